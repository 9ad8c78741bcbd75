//! The native half of the Kotlin and Swift packages, exported through `UniFFI`.

uniffi::setup_scaffolding!();

/// The version of the Rust core inside this library.
#[uniffi::export]
#[must_use]
pub fn version() -> String {
    oxmcp::VERSION.to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn version_is_that_of_the_core() {
        assert_eq!(super::version(), oxmcp::VERSION);
    }
}
