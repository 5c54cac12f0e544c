use crate::store::upkeep::Rooms;

impl Rooms {
    /// What `RelayLink`'s own rooms know of their tables.
    pub fn relay() -> Self {
        crate::upkeep(Self::default())
    }
}
