//! What one check may cost, in looks at the value, and how deep it may recurse.
//!
//! The validator knows no budget, so the value it walks keeps one: each look at a node is charged
//! here. When the budget is spent the check unwinds to [`within`], past a validator that would
//! otherwise go on with the next alternative. No panic handler sees that.

use std::any::Any;
use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Stack a check may use, in bytes: a quarter of what threads of a runtime have.
const MAX_STACK: usize = 512 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Looks at nodes.
    pub(super) looks: u64,
    /// What reading one string costs, beside its length.
    pub(super) per_text: u64,
    /// What one byte of a string that is read costs.
    pub(super) per_byte: u64,
}

/// A check was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    Looks,
    Stack,
}

#[derive(Clone, Copy)]
struct Meter {
    left: Budget,
    /// Where the stack stood at the start; 0 outside of any check.
    base: usize,
}

const IDLE: Meter = Meter {
    left: Budget {
        looks: u64::MAX,
        per_text: 0,
        per_byte: 0,
    },
    base: 0,
};

thread_local! {
    static METER: Cell<Meter> = const { Cell::new(IDLE) };
}

/// Runs a check that may cost no more than `budget`.
pub(super) fn within<T>(budget: Budget, check: impl FnOnce() -> T) -> Result<T, Spent> {
    let base = stack();
    let outer = METER.replace(Meter { left: budget, base });
    let outcome = catch_unwind(AssertUnwindSafe(check));
    METER.set(outer);
    outcome.map_err(|cause| match cause.downcast::<Spent>() {
        Ok(spent) => *spent,
        Err(panic) => resume_unwind(panic),
    })
}

/// Charges `looks`.
pub(super) fn charge(looks: u64) {
    let mut meter = METER.get();
    match meter.left.looks.checked_sub(looks) {
        Some(left) => meter.left.looks = left,
        None => give_up(Spent::Looks),
    }
    METER.set(meter);
}

/// Charges one look, and sees that there is stack left.
pub(super) fn charge_entry() {
    let base = METER.get().base;
    if base != 0 && stack().abs_diff(base) > MAX_STACK {
        give_up(Spent::Stack);
    }
    charge(1);
}

/// Charges for reading a string.
pub(super) fn charge_text(bytes: usize) {
    let budget = METER.get().left;
    charge(
        budget
            .per_text
            .saturating_add(budget.per_byte.saturating_mul(bytes as u64)),
    );
}

fn give_up(spent: Spent) -> ! {
    resume_unwind(Box::new(spent) as Box<dyn Any + Send>)
}

/// About where the stack stands.
#[inline(never)]
fn stack() -> usize {
    let mark = 0u8;
    std::ptr::from_ref(black_box(&mark)).addr()
}
