use relaylink_core::tool::Toolset;
use relaylink_mcp::Server;

use crate::{failure::Failure, options::Offered};

/// The server of these tools, narrowed as was told.
pub(crate) fn server(toolset: Toolset, offered: &Offered) -> Result<Server, Failure> {
    Ok(Server::new(narrow(toolset, offered)?).name("relaylink", env!("CARGO_PKG_VERSION")))
}

fn narrow(mut toolset: Toolset, offered: &Offered) -> Result<Toolset, Failure> {
    if !offered.exclude_tools.is_empty() {
        toolset = toolset.without(&offered.exclude_tools)?;
    }
    if !offered.toolsets.is_empty() {
        toolset = toolset.only(&offered.toolsets)?;
    }
    // Read-only wins over all.
    Ok(if offered.read_only { toolset.read_only() } else { toolset })
}
