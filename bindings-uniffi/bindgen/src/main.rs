//! The generator of the Kotlin and Swift sources, as the version of `UniFFI` that the library is built with has it.
//! A crate of its own, since it takes minutes to build. `cargo xtask bindgen` runs it.

fn main() {
    uniffi::uniffi_bindgen_main();
}
