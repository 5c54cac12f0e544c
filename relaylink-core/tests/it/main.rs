//! One binary, a module a promise.
