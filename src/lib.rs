//! Working memory for agents.
<<<<<<< HEAD
pub mod cli;
pub mod domain;
pub mod storage;
=======
pub mod config;
pub mod domain;
pub mod llm;
>>>>>>> llm
