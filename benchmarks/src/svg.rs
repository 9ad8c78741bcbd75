//! Results as a picture: one row per subject, one panel of bars per figure, on logarithmic scales. It needs no
//! font or script from elsewhere and follows the reader's light or dark scheme.

use std::fmt::Write;

use crate::subjects::{Kind, Language};

const WIDTH: f64 = 880.0;
const MARGIN: f64 = 24.0;
/// Where the names end and the panels begin.
const PANELS: f64 = 196.0;
const PANEL_GAP: f64 = 18.0;
const ROW: f64 = 22.0;
const BAR: f64 = 13.0;
const LANGUAGE_GAP: f64 = 9.0;
/// Room behind the longest bar of a panel for its figure.
const FIGURE: f64 = 68.0;

/// A picture of sections under each other.
pub(crate) struct Picture {
    pub(crate) title: &'static str,
    /// What it shows, for those who cannot see it.
    pub(crate) label: &'static str,
    /// What the bare programs are.
    pub(crate) bare: &'static str,
    pub(crate) sections: Vec<Section>,
    pub(crate) facts: String,
}

/// Subjects that are compared with each other.
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) panels: [Panel; 3],
    pub(crate) lines: Vec<Line>,
}

/// One figure of all subjects of a section.
#[derive(Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) better: &'static str,
    pub(crate) show: fn(f64) -> String,
}

/// One subject.
pub(crate) struct Line {
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    /// One figure for each panel, or why there are none.
    pub(crate) figures: Result<[f64; 3], &'static str>,
}

const STYLE: &str = "
text { font: 12px system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; fill: #1f2328; }
.title { font-size: 17px; font-weight: 600; }
.role { font-size: 14px; font-weight: 600; }
.panel { font-weight: 600; }
.soft { fill: #59636e; font-size: 11px; }
.tick { fill: #818b98; font-size: 10px; }
.language { fill: #59636e; }
.name { text-anchor: end; }
.ours-text { font-weight: 700; }
.figure { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; }
.back { fill: #ffffff; stroke: #d1d9e0; }
.grid { stroke: #e4e8ec; }
.bare { fill: #b6bec7; }
.ours { fill: #e8590c; }
.official { fill: #5c7cfa; }
.other { fill: #a5b8fd; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.soft, .language { fill: #9198a1; }
.tick { fill: #767e88; }
.figure { stroke: #0d1117; }
.back { fill: #0d1117; stroke: #30363d; }
.grid { stroke: #262c34; }
.bare { fill: #59636e; }
.ours { fill: #fb7c3c; }
.official { fill: #6f8cff; }
.other { fill: #45559c; }
}
";

impl Picture {
    pub(crate) fn draw(&self) -> String {
        let mut body = String::new();
        let mut top = 92.0;
        for section in self.sections.iter().filter(|section| !section.lines.is_empty()) {
            section.draw(&mut body, top);
            top += section.height();
        }
        let height = top + 26.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n\
             <rect class=\"back\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
            self.label,
            WIDTH - 1.0,
            height - 1.0
        );
        text(&mut svg, MARGIN, 38.0, "title", self.title);
        legend(&mut svg, 62.0, self.bare);
        svg.push_str(&body);
        text(&mut svg, MARGIN, height - 16.0, "soft", &self.facts);
        svg.push_str("</svg>\n");
        svg
    }
}

fn legend(svg: &mut String, y: f64, bare: &'static str) {
    let mut x = MARGIN;
    for (kind, name) in [
        (Kind::Ours, "oxmcp"),
        (Kind::Official, "official SDK of the language"),
        (Kind::Other, "other SDK"),
        (Kind::Bare, bare),
    ] {
        rect(svg, x, y - 10.0, 12.0, 12.0, class(kind));
        text(svg, x + 18.0, y, "soft", name);
        x += 18.0 + name.chars().count() as f64 * 5.7 + 22.0;
    }
}

impl Section {
    fn height(&self) -> f64 {
        62.0 + self.rows_height() + 40.0
    }

    fn rows_height(&self) -> f64 {
        let pairs = self.lines.windows(2);
        let changes = pairs.filter(|pair| pair[0].language != pair[1].language).count();
        self.lines.len() as f64 * ROW + changes as f64 * LANGUAGE_GAP
    }

    fn draw(&self, svg: &mut String, top: f64) {
        text(svg, MARGIN, top + 14.0, "role", &self.heading);
        let first = top + 62.0;
        let bottom = first + self.rows_height();
        let width = (WIDTH - MARGIN - PANELS - 2.0 * PANEL_GAP) / 3.0;
        let lefts = [0.0, 1.0, 2.0].map(|index| PANELS + index * (width + PANEL_GAP));
        let scales = [0, 1, 2].map(|panel| {
            let figures = self.lines.iter().filter_map(|line| Some(line.figures.ok()?[panel]));
            Scale::over(figures, width - FIGURE)
        });
        for ((panel, left), scale) in self.panels.iter().zip(lefts).zip(&scales) {
            text(svg, left, top + 36.0, "panel", panel.title);
            text(svg, left, top + 50.0, "soft", panel.better);
            grid(svg, left, scale, first, bottom, panel);
        }
        let mut y = first;
        for (index, line) in self.lines.iter().enumerate() {
            let begins = index == 0 || self.lines[index - 1].language != line.language;
            if begins {
                y += if index == 0 { 0.0 } else { LANGUAGE_GAP };
                text(svg, MARGIN, y + 15.0, "language", &line.language.to_string());
            }
            let emphasis = if line.kind == Kind::Ours {
                "name ours-text"
            } else {
                "name"
            };
            text(svg, PANELS - 12.0, y + 15.0, emphasis, line.title);
            for (index, left) in lefts.into_iter().enumerate() {
                let figure = line.figures.map(|figures| figures[index]);
                bar(svg, line.kind, figure, (left, y), &scales[index], &self.panels[index]);
            }
            y += ROW;
        }
    }
}

fn bar(
    svg: &mut String,
    kind: Kind,
    figure: Result<f64, &'static str>,
    (left, y): (f64, f64),
    scale: &Scale,
    panel: &Panel,
) {
    let figure = match figure {
        Ok(figure) => figure,
        Err(why) => return text(svg, left + 4.0, y + 15.0, "soft figure", why),
    };
    let length = scale.length(figure);
    rect(svg, left, y + (ROW - BAR) / 2.0, length, BAR, class(kind));
    let emphasis = if kind == Kind::Ours {
        "figure ours-text"
    } else {
        "figure"
    };
    text(svg, left + length + 6.0, y + 15.0, emphasis, &(panel.show)(figure));
}

fn grid(svg: &mut String, left: f64, scale: &Scale, top: f64, bottom: f64, panel: &Panel) {
    for decade in scale.decades() {
        let x = left + scale.length(decade);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
        );
        let label = (panel.show)(decade)
            .replace(".00", "")
            .replace(".0 ", " ")
            .replace("0.10", "0.1");
        let _ = writeln!(
            svg,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 14.0,
            escape(&label.replace(",000,000", "M").replace(",000", "k"))
        );
    }
}

/// A logarithmic scale from a little below the least figure to the greatest one.
struct Scale {
    least: f64,
    greatest: f64,
    width: f64,
}

impl Scale {
    fn over(figures: impl Iterator<Item = f64>, width: f64) -> Self {
        let (least, greatest) = figures.fold((f64::INFINITY, 0.0_f64), |(least, greatest), figure| {
            (least.min(figure), greatest.max(figure))
        });
        if greatest > 0.0 {
            Self {
                least: least / 2.5,
                greatest: greatest.max(least * 1.01),
                width,
            }
        } else {
            Self {
                least: 0.1,
                greatest: 1.0,
                width,
            }
        }
    }

    fn length(&self, figure: f64) -> f64 {
        (figure / self.least).ln() / (self.greatest / self.least).ln() * self.width
    }

    /// The powers of ten within the scale.
    fn decades(&self) -> impl Iterator<Item = f64> {
        let (first, last) = (self.least.log10().ceil() as i32, self.greatest.log10().floor() as i32);
        (first..=last).map(|power| 10_f64.powi(power))
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Bare => "bare",
        Kind::Ours => "ours",
        Kind::Official => "official",
        Kind::Other => "other",
    }
}

fn rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, class: &str) {
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        escape(text)
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn bars_grow_with_the_logarithm() {
        let scale = Scale::over([25.0, 250.0, 2_500.0].into_iter(), 300.0);
        assert!((scale.length(10.0)).abs() < 1e-9);
        assert!((scale.length(2_500.0) - 300.0).abs() < 1e-9);
        let steps = [
            scale.length(250.0) - scale.length(25.0),
            scale.length(2_500.0) - scale.length(250.0),
        ];
        assert!((steps[0] - steps[1]).abs() < 1e-9);
        assert_eq!(scale.decades().collect::<Vec<_>>(), [10.0, 100.0, 1_000.0]);
    }

    #[test]
    fn a_scale_over_one_figure_or_none_is_finite() {
        assert!(Scale::over([5.0].into_iter(), 100.0).length(5.0).is_finite());
        assert!(Scale::over(std::iter::empty(), 100.0).length(0.5).is_finite());
    }

    #[test]
    fn every_measured_figure_is_a_bar_and_every_failure_is_named() {
        let svg = example().picture();
        let bars = svg.matches("height=\"13.0\"").count();
        assert_eq!(bars, 3 * 3, "three subjects with figures, three panels");
        assert_eq!(svg.matches(">failed<").count(), 3);
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a<b & c>d"), "a&lt;b &amp; c&gt;d");
    }
}
