//! The limits of what any tool is given and shows, each with its reason.

/// Complaints that one refusal lists at most: a model mends no more at once.
pub(super) const COMPLAINTS_MAX: usize = 8;
/// How deep free JSON may be: far more than anybody means, far less than a stack holds.
pub(super) const DEPTH_MAX: usize = 64;
/// Characters of a text of the caller's that a message repeats at most: enough to know it again.
pub(super) const QUOTED_MAX: usize = 40;
/// Letters by which a name is compared with those there are: no argument's name is longer.
pub(super) const COMPARED_MAX: usize = 64;
/// Characters of a property's name at most: longer ones are refused by some clients.
pub(super) const PROPERTY_NAME_MAX: usize = 64;
