//! Every limit, with its reason.

/// Rows of a list page unless told.
pub const PAGE_DEFAULT: u32 = 20;
/// Rows of a list page at most: a page stays well under what clients accept as one result.
pub const PAGE_MAX: u32 = 100;
