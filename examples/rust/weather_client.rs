//! Asks a weather server for everything that it has. `cargo run -p oxmcp --features http --example weather_client` starts
//! the server beside it; with a URL, it uses one that runs: `weather_client http://127.0.0.1:8000/mcp`.

use std::error::Error;

use oxmcp::types::{ElicitRequestFormParams, ResourceContents, content};
use oxmcp::{ChildProcess, Client, ClientContext, Elicited, HandlerError};
use serde_json::{Value, json};

/// The person. A real client shows the message and the fields of the form.
async fn person(_: ClientContext, question: ElicitRequestFormParams) -> Result<Elicited<Value>, HandlerError> {
    println!("{} In two days, but only if it does not rain.", question.message);
    Ok(Elicited::Accepted(json!({"ahead": 2, "rain_is_fine": false})))
}

async fn connect() -> Result<Client, Box<dyn Error>> {
    let builder = Client::builder().info("weather-client", "1.0").on_elicitation(person);
    let client = match std::env::args().nth(1) {
        Some(url) => builder.connect(url).await,
        None => {
            let server = std::env::current_exe()?.with_file_name("weather_server");
            builder.connect(ChildProcess::new(server)).await
        }
    };
    Ok(client?)
}

/// The structured content of the result of `forecast`.
#[derive(serde::Deserialize)]
struct Forecast {
    city: String,
    days: Vec<Day>,
}

#[derive(serde::Deserialize)]
struct Day {
    ahead: u32,
    temperature: i64,
    sky: String,
}

async fn see_the_forecast(client: &Client) -> Result<(), Box<dyn Error>> {
    let result = client
        .call_tool("forecast", json!({"city": "Oslo", "days": 2}))
        .on_progress(|it| println!("{} of {}", it.progress, it.total.unwrap_or_default()))
        .await?;
    let Forecast { city, days } = result.structured()?.ok_or("the forecast has no structured content")?;
    for Day {
        ahead,
        temperature,
        sky,
    } in days
    {
        println!("{city}, in {ahead} days: {sky}, {temperature} °C");
    }
    let unknown = client.call_tool("forecast", json!({"city": "Atlantis"})).await?;
    println!("failed: {}, {}", unknown.is_error, unknown.text());
    Ok(())
}

async fn read(client: &Client, uri: &str) -> Result<(), oxmcp::Error> {
    for contents in client.read_resource(uri).await?.contents {
        if let ResourceContents::Text(contents) = contents {
            println!("{}", contents.text.replace('\n', ", "));
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = connect().await?;
    println!("{}", client.peer().instructions.as_deref().unwrap_or_default());
    see_the_forecast(&client).await?;
    println!(
        "{}",
        client.call_tool("plan_trip", json!({"city": "Lima"})).await?.text()
    );
    read(&client, "weather://cities").await?;
    read(&client, "weather://now/Tokyo").await?;
    let cities = client.complete_resource("weather://now/{city}", "city", "C").await?;
    println!("begins with C: {}", cities.values.join(", "));
    let prompt = client.get_prompt("pack", json!({"city": "Quito"})).await?;
    println!("{}", content::as_text(&prompt.messages[0].content).unwrap_or_default());
    client.close().await;
    Ok(())
}
