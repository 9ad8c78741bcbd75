//! Lets the linker leave Python's own symbols to the interpreter that loads the module, and says which Python that is.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    pyo3_build_config::add_extension_module_link_args();
}
