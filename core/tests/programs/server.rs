//! The server that the tests start as a child process, with one tool for each case. With the argument `old` it knows
//! revisions with a handshake only.

use std::io::Write as _;

use oxmcp::{Context, NoArguments, Revision, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(_: Context, Echo { text }: Echo) -> Result<String, ToolError> {
    Ok(text)
}

/// Prints in every way there is, and then answers.
async fn print(_: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    println!("printed by println");
    print!("no line end");
    std::io::stdout().write_all(b"written to stdout")?;
    let status = std::process::Command::new("sh")
        .args(["-c", "echo printed by a child; cat"])
        .status()?;
    assert!(status.success(), "the child reads the null device, not the wire");
    Ok("printed")
}

async fn exit(_: Context, _: NoArguments) -> Result<(), ToolError> {
    std::process::exit(7)
}

/// Never ends, and never lets go of its thread.
fn block(_: Context, _: NoArguments) -> Result<(), ToolError> {
    loop {
        std::thread::park();
    }
}

async fn wait(ctx: Context, _: NoArguments) -> Result<(), ToolError> {
    eprintln!("waiting");
    ctx.cancelled().await;
    eprintln!("cancelled");
    Ok(())
}

fn main() -> Result<(), oxmcp::Error> {
    let mut server = Server::new("test", "1.0");
    if std::env::args().any(|argument| argument == "old") {
        server = server.revisions([Revision::V2025_11_25]);
    }
    let served = server
        .tool("echo", "Answers with the text it was given.", echo)
        .tool("print", "Prints.", print)
        .tool("exit", "Exits.", exit)
        .tool("wait", "Waits for a cancel.", wait)
        .blocking_tool("block", "Blocks for ever.", block)
        .run_stdio();
    // Whoever read them may have left.
    let _ = writeln!(std::io::stdout(), "the streams are back");
    served
}
