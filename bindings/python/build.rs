//! Says whether the interpreter has a lock: `cfg(Py_GIL_DISABLED)` if it has none.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
