//! From annotations to a decision.
