//! Two sessions joined by a link that delays, cuts and loses, and a naive model beside them.

mod link;
mod model;
mod side;
mod world;

pub(crate) use world::{Op, World};
