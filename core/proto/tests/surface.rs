//! A client and a server with handlers that ask questions, lists that change and streams, in every
//! revision, over a link that delays and cuts, at random.
//!
//! More cases than the usual 1,000: `PROPTEST_CASES=100000 cargo test -p oxmcp-proto --test surface`.

// The link is the one of the other simulation.
#[path = "surface/host.rs"]
mod host;
#[path = "sim/link.rs"]
mod link;
#[path = "surface/world.rs"]
mod world;

use oxmcp_proto::Revision;
use proptest::prelude::*;
use world::{Op, World};

const CASES: u32 = 1_000;

fn config() -> ProptestConfig {
    let set = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if set { default.cases } else { CASES },
        // The smallest failing input is printed; it belongs into a test of its own.
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_reach_their_questions_and_changes_are_told(
        revision in proptest::sample::select(Revision::ALL.to_vec()),
        page_size in 0..4usize,
        ops in proptest::collection::vec(any::<u64>().prop_map(Op::read), 40..160),
    ) {
        let mut world = World::new(revision, page_size);
        for op in &ops {
            world.apply(op);
        }
        world.come_to_rest();
        world.finish();
    }
}
