//! A weather server. Its weather is made up, by arithmetic: a city has the same weather each time it is asked for.
//!
//! `cargo run -p oxmcp --features http --example weather_server` serves the client that starts it, on standard input and
//! output. With `--http 8000` it serves any number of clients at `http://127.0.0.1:8000/mcp`, until Ctrl-C.

use std::error::Error;

use oxmcp::{Completing, Context, Elicited, HandlerError, Json, Server, TemplateOffer, ToolError};

/// Where there is weather, and how far from the equator that is, in degrees.
const CITIES: [(&str, i64); 5] = [("Cairo", 30), ("Lima", 12), ("Oslo", 60), ("Quito", 0), ("Tokyo", 36)];

/// The weather of a day.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    /// How many days from now.
    ahead: u32,
    /// In degrees Celsius.
    temperature: i64,
    sky: &'static str,
}

/// The weather of some days.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Forecast {
    city: &'static str,
    days: Vec<Weather>,
}

fn forecast(city: &str, days: u32) -> Result<Forecast, String> {
    let found = CITIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(city));
    let (city, latitude) = found.ok_or_else(|| {
        let known = CITIES.map(|(name, _)| name).join(", ");
        format!("nobody knows the weather of \"{city}\"; there is weather in {known}")
    })?;
    let day = |ahead: u32| {
        let chance = city.bytes().map(i64::from).sum::<i64>() + i64::from(ahead) * 5;
        let sky = ["sunny", "cloudy", "rainy"][usize::from(chance % 7 > 3) + usize::from(chance % 3 == 0)];
        let temperature = 28 - latitude / 2 + chance % 9 - 4;
        Weather {
            ahead,
            temperature,
            sky,
        }
    };
    Ok(Forecast {
        city,
        days: (0..days).map(day).collect(),
    })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Days {
    /// The name of a city.
    city: String,
    /// How many days, 3 unless given.
    days: Option<u32>,
}

/// Takes its time over each day, and says how far it is.
async fn look_ahead(ctx: Context, Days { city, days }: Days) -> Result<Json<Forecast>, ToolError> {
    let days = days.unwrap_or(3);
    if days > 7 {
        return Err(ToolError::invalid_arguments("`days` must be 7 or less"));
    }
    let forecast = forecast(&city, days).map_err(ToolError::new)?;
    for day in 1..=days {
        ctx.report_progress(day, Some(days.into()), Some("looking ahead"));
        tokio::task::yield_now().await;
    }
    Ok(Json(forecast))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// The name of a city.
    city: String,
}

/// What the person is asked.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trip {
    /// How many days from now.
    ahead: u32,
    /// Whether rain does not matter.
    rain_is_fine: bool,
}

async fn plan_trip(ctx: Context, Place { city }: Place) -> Result<String, ToolError> {
    let week = forecast(&city, 7).map_err(ToolError::new)?;
    let Elicited::Accepted(trip) = ctx.elicit::<Trip>(format!("When to {}?", week.city)).await? else {
        return Ok("Stay at home, then.".to_owned());
    };
    let day = week.days.iter().find(|day| day.ahead == trip.ahead);
    let Some(Weather { temperature, sky, .. }) = day else {
        return Err(ToolError::new("nobody can look ahead further than 6 days"));
    };
    let verdict = if *sky == "rainy" && !trip.rain_is_fine {
        "Stay at home"
    } else {
        "Go"
    };
    Ok(format!(
        "{verdict}: it will be {sky} in {}, at {temperature} °C.",
        week.city
    ))
}

async fn now(ctx: Context, Place { city }: Place) -> Result<String, HandlerError> {
    let not_found = |_| HandlerError::not_found(ctx.uri().unwrap_or_default());
    let Forecast { city, days } = forecast(&city, 1).map_err(not_found)?;
    Ok(format!("{city}: {}, {} °C", days[0].sky, days[0].temperature))
}

async fn cities(_: Context, typed: Completing) -> Result<Vec<&'static str>, HandlerError> {
    let known = CITIES.into_iter().map(|(name, _)| name);
    Ok(known.filter(|name| name.starts_with(&typed.value)).collect())
}

fn server() -> Server {
    Server::new("weather", "1.0")
        .instructions("Weather that is made up, of a few cities.")
        .tool("forecast", "Forecasts the weather of a city.", look_ahead)
        .tool(
            "plan_trip",
            "Asks when to go to a city, and says whether to.",
            plan_trip,
        )
        .resource("weather://cities", "cities", |_: Context| async {
            Ok(CITIES.map(|(name, _)| name).join("\n"))
        })
        .offer(
            TemplateOffer::new("weather://now/{city}", "now", now)
                .description("The weather of a city, as it is.")
                .complete("city", cities),
        )
        .prompt(
            "pack",
            "What to put into a suitcase.",
            |_: Context, Place { city }: Place| async move {
                Ok(format!(
                    "Look up the weather in {city}, and say what to pack for three days there."
                ))
            },
        )
        .on_problem(|problem| eprintln!("weather: {}", problem.message))
}

async fn serve_http(port: u16) -> Result<(), Box<dyn Error>> {
    let serving = server().http().bind(port).await?;
    println!("http://{}/mcp", serving.local_addr());
    let handle = serving.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shut_down();
        }
    });
    Ok(serving.await?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(server().run_stdio()?),
        ["--http", port] => {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(serve_http(port.parse()?))
        }
        _ => Err("start it without arguments, or with --http and a port".into()),
    }
}
