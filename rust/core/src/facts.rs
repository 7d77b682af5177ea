//! What the ledger wants to know of a message.

use crate::pairing::{Key, Label};

/// Who speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// System or developer.
    System,
    /// The user, or something that speaks in the user's place.
    #[default]
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// A tool's number in the order of [`crate::ledger::Ledger::add_tool`].
pub type ToolId = u32;

/// How the results of one tool are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Its results are never cleared.
    pub excluded: bool,
    /// Its results are cleared with the note that says not to call it again.
    pub no_rerun: bool,
}

/// A call or a result in a message, in the order in which they stand there.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// The model calls a tool.
    Call {
        /// Its id, if it has one.
        id: Option<Key>,
        /// Its tool's name, if it has one.
        name: Option<Key>,
        /// The tool called.
        tool: Option<ToolId>,
        /// Tokens that clearing its arguments would free; 0 where it may not be.
        saving: u64,
    },
    /// A tool answers.
    Result {
        /// By what it finds its call.
        label: Label,
        /// The tool, where the result itself names it.
        tool: Option<ToolId>,
        /// What its content costs, in tokens.
        content: u64,
        /// Whether the format and the policy let it be cleared at all.
        clearable: bool,
    },
    /// Stands for something that the provider holds, perhaps for a call.
    Reference,
}

/// All that the ledger wants to know of one message.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Who speaks.
    pub role: Role,
    /// What the message costs, in tokens, frame included.
    pub tokens: u64,
    /// It stays in every request, and whole.
    pub pinned: bool,
    /// It is a note of ours that earlier conversation was trimmed.
    pub trim_note: bool,
    /// The provider has replaced by it all that stands before it.
    pub marker: bool,
    /// Where the model spoke last, it goes on with the same response.
    pub continues: bool,
    /// What the reasoning in it costs, in tokens, if there is any.
    pub thought: Option<u64>,
    /// It is refused without the reasoning before it in the same response.
    pub bound: bool,
    /// Its calls and results.
    pub rows: Vec<Row>,
}

impl Facts {
    pub(crate) fn results(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, Row::Result { .. })).count()
    }
}
