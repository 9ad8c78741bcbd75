//! JSON Schema for Python: the checks that the core makes of tools.

use oxmcp_proto::jsonrpc::json;
use pyo3::prelude::*;

use crate::session::invalid;

/// A compiled schema.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Schema {
    core: oxmcp_proto::schema::Schema,
}

#[pymethods]
impl Schema {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let core = oxmcp_proto::schema::Schema::compile(&json(text).map_err(invalid)?).map_err(invalid)?;
        Ok(Self { core })
    }

    /// What is wrong with the JSON of a value; `None` when it fits.
    fn check(&self, text: &str) -> PyResult<Option<String>> {
        let value = json(text).map_err(invalid)?;
        Ok(self.core.validate(&value).err().map(|why| why.to_string()))
    }
}
