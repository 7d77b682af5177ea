//! Reads messages by their format's table, and prices them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use turnfit_core::ledger::Role;
use turnfit_core::profile::Profile;

use crate::errors::format_error;
use crate::table::{Fields, Kind, Recogniser, Shape, Table, Use, ascii_item};
use crate::text::Text;
use crate::value::{self, MEDIUM};

/// The frame that a provider puts around a message, and around a request, in
/// tokens; OpenAI's published rule is 3 and 3
/// (<https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken>).
pub(crate) const FRAME: u64 = 3;

/// Notes are shorter than this many characters; longer texts aren't hashed.
pub(crate) const NOTE_LENGTH: usize = 1024;

/// A message as it was read: what it costs, and its calls and results. It
/// depends on the message and the profile alone, not on a policy.
pub(crate) struct Read {
    pub(crate) role: Role,
    pub(crate) tokens: u64,
    pub(crate) rows: Vec<ReadRow>,
    /// The hash of its only text, if it is short.
    pub(crate) text: Option<u128>,
}

/// A call or a result.
pub(crate) struct ReadRow {
    pub(crate) kind: Kind,
    pub(crate) id: Option<Py<PyString>>,
    pub(crate) name: Option<Py<PyString>>,
    /// What the arguments or the content cost, in tokens.
    pub(crate) body: u64,
    /// The hash of the content, if it is one short text.
    pub(crate) text: Option<u128>,
    pub(crate) clearable: bool,
}

impl ReadRow {
    fn new(kind: Kind, clearable: bool) -> Self {
        ReadRow { kind, id: None, name: None, body: 0, text: None, clearable }
    }
}

/// Reads one message.
pub(crate) fn read(table: &Table, profile: &Profile, index: usize, message: &Bound<'_, PyAny>) -> PyResult<Read> {
    let mut reader =
        Reader { table, profile, index, role: Role::User, tokens: FRAME, rows: Vec::new(), texts: 0, text: None };
    match &table.reader {
        Some(rows) => reader.read_object(rows.bind(message.py()), message)?,
        None => reader.read_message(message)?,
    }
    let text = reader.text.filter(|_| reader.texts == 1);
    Ok(Read { role: reader.role, tokens: reader.tokens, rows: reader.rows, text })
}

struct Reader<'t> {
    table: &'t Table,
    profile: &'t Profile,
    index: usize,
    role: Role,
    tokens: u64,
    rows: Vec<ReadRow>,
    texts: usize,
    text: Option<u128>,
}

impl<'t> Reader<'t> {
    fn read_message(&mut self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = message.py();
        let Ok(dict) = message.cast::<PyDict>() else {
            return Err(self.error(py, &not_a_message(message)?));
        };
        let Some(name) = dict.get_item(intern!(py, "role"))? else {
            return Err(self.error(py, "it has no role"));
        };
        let known = match name.cast::<PyString>() {
            Ok(name) => Text::of(name)?.ascii().and_then(|name| self.table.role(name)),
            Err(_) => None,
        };
        let Some((role, shape)) = known else {
            return Err(self.unknown_role(&name));
        };
        self.role = *role;
        self.read_thing(dict, shape, true)
    }

    /// A message, a part or a call: one row, if it is a call or a result.
    fn read_thing(&mut self, dict: &Bound<'_, PyDict>, shape: &'t Shape, is_message: bool) -> PyResult<()> {
        let row = (shape.kind != Kind::Plain).then_some(self.rows.len());
        if row.is_some() {
            self.rows.push(ReadRow::new(shape.kind, shape.clearable));
        }
        self.read_fields(dict, &shape.fields, row, is_message)
    }

    fn read_fields(
        &mut self,
        dict: &Bound<'_, PyDict>,
        fields: &'t Fields,
        row: Option<usize>,
        is_message: bool,
    ) -> PyResult<()> {
        for (key, value) in dict {
            let name = match key.cast::<PyString>() {
                Ok(name) => Text::of(name)?.ascii(),
                Err(_) => None,
            };
            match name.and_then(|name| fields.get(name)) {
                Some(used) => self.read_use(&value, used, row)?,
                None if value.is_none() => {}
                None => {
                    if let Some(name) = name.filter(|_| is_message) {
                        self.refuse_foreign(key.py(), name, self.table.foreign.keys.get(name), "key")?;
                    }
                    self.read_unknown(&value)?;
                }
            }
        }
        Ok(())
    }

    fn read_use(&mut self, value: &Bound<'_, PyAny>, used: &'t Use, row: Option<usize>) -> PyResult<()> {
        match used {
            Use::Free => Ok(()),
            _ if value.is_none() => Ok(()),
            Use::Text => self.read_text(value).map(drop),
            Use::Body => self.read_body(value, row),
            Use::Id => self.read_label(value, row, |row| &mut row.id),
            Use::Name => self.read_label(value, row, |row| &mut row.name),
            Use::Medium => {
                self.add_medium();
                Ok(())
            }
            Use::Source => self.read_source(value),
            Use::Nested(fields) => match value.cast::<PyDict>() {
                Ok(dict) => self.read_fields(dict, fields, row, false),
                Err(_) => self.read_unknown(value),
            },
            Use::Things(shape) => self.read_things(value, shape),
        }
    }

    fn read_things(&mut self, value: &Bound<'_, PyAny>, shape: &'t Shape) -> PyResult<()> {
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.read_thing(dict, shape, false);
        }
        let Ok(list) = value.cast::<PyList>() else { return self.read_unknown(value) };
        for item in list {
            match item.cast::<PyDict>() {
                Ok(dict) => self.read_thing(dict, shape, false)?,
                Err(_) => self.read_unknown(&item)?,
            }
        }
        Ok(())
    }

    /// The content of a message or result, or the arguments of a call.
    fn read_body(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let before = self.tokens;
        let is_call = row.is_some_and(|row| self.rows[row].kind == Kind::Call);
        let text = match value.cast::<PyList>() {
            Ok(parts) if !is_call => {
                parts.iter().try_for_each(|part| self.read_part(&part))?;
                None
            }
            _ => self.read_text(value)?,
        };
        if let Some(row) = row {
            let row = &mut self.rows[row];
            row.body += self.tokens - before;
            row.text = text;
        }
        Ok(())
    }

    fn read_part(&mut self, part: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = part.py();
        let Ok(dict) = part.cast::<PyDict>() else { return self.read_text(part).map(drop) };
        let kind = ascii_item(dict, intern!(py, "type"))?;
        let Some(kind) = kind else { return self.read_unknown(part) };
        if let Some(shape) = self.table.part(&kind) {
            return self.read_thing(dict, shape, false);
        }
        self.refuse_foreign(py, &kind, self.table.foreign.parts.get(&kind), "block of type")?;
        self.read_unknown(part)
    }

    /// A string as it is, anything else as JSON. The hash, if it is a short text.
    fn read_text(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Option<u128>> {
        let Ok(string) = value.cast::<PyString>() else {
            self.read_unknown(value)?;
            return Ok(None);
        };
        let text = Text::of(string)?;
        self.tokens += self.profile.tokens(text.counts(value.py()));
        self.texts += 1;
        let hash = (text.len() < NOTE_LENGTH).then(|| text.hash());
        self.text = hash;
        Ok(hash)
    }

    fn read_label(
        &mut self,
        value: &Bound<'_, PyAny>,
        row: Option<usize>,
        slot: fn(&mut ReadRow) -> &mut Option<Py<PyString>>,
    ) -> PyResult<()> {
        let string = match value.cast::<PyString>() {
            Ok(string) => string.clone(),
            Err(_) => value.str()?,
        };
        self.tokens += self.profile.tokens(Text::of(&string)?.counts(value.py()));
        if let Some(row) = row {
            *slot(&mut self.rows[row]) = Some(string.unbind());
        }
        Ok(())
    }

    /// A source whose `type` is `text` or `content` holds what is to be read.
    fn read_source(&mut self, source: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = source.py();
        let Ok(dict) = source.cast::<PyDict>() else { return self.read_unknown(source) };
        match ascii_item(dict, intern!(py, "type"))?.as_deref() {
            Some(b"text" | b"content") => self.read_unknown(source),
            _ => {
                self.add_medium();
                Ok(())
            }
        }
    }

    fn add_medium(&mut self) {
        self.texts += 1;
        self.tokens += MEDIUM;
    }

    fn read_unknown(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !value.is_none() {
            self.texts += 1;
            self.tokens += value::tokens(value, self.profile)?;
        }
        Ok(())
    }

    /// A message that is an object: its format tells the rows, as
    /// `(role, [("text", text) | ("call", id, name, arguments) |
    /// ("result", id, name, content, clearable) | ("medium",)])`.
    fn read_object(&mut self, rows: &Bound<'_, PyAny>, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = message.py();
        let read = rows.call1((message,))?;
        if read.is_none() {
            return Err(self.error(py, &not_a_message(message)?));
        }
        let (role, rows): (String, Bound<'_, PyAny>) = read.extract()?;
        self.role = match self.table.role(role.as_bytes()) {
            Some((role, _)) => *role,
            None => return Err(self.error(py, &format!("its role {role:?} is unknown"))),
        };
        rows.try_iter()?.try_for_each(|row| self.read_object_row(row?.cast::<PyTuple>()?))
    }

    fn read_object_row(&mut self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        let kind: String = row.get_item(0)?.extract()?;
        let (kind, clearable) = match kind.as_str() {
            "text" => return self.read_text(&row.get_item(1)?).map(drop),
            "medium" => {
                self.add_medium();
                return Ok(());
            }
            "call" => (Kind::Call, true),
            _ => (Kind::Result, row.get_item(4)?.extract()?),
        };
        let number = Some(self.rows.len());
        self.rows.push(ReadRow::new(kind, clearable));
        self.read_use(&row.get_item(1)?, &Use::Id, number)?;
        self.read_use(&row.get_item(2)?, &Use::Name, number)?;
        self.read_object_body(&row.get_item(3)?, number)
    }

    /// Arguments, or one text, or a tuple of texts and media (`None`).
    fn read_object_body(&mut self, body: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let Ok(parts) = body.cast::<PyTuple>() else { return self.read_body(body, row) };
        let before = self.tokens;
        for part in parts {
            if part.is_none() {
                self.add_medium();
            } else {
                self.read_text(&part)?;
            }
        }
        if let Some(row) = row {
            self.rows[row].body = self.tokens - before;
        }
        Ok(())
    }

    fn refuse_foreign(&self, py: Python<'_>, sign: &[u8], format: Option<&String>, what: &str) -> PyResult<()> {
        let Some(format) = format else { return Ok(()) };
        let sign = String::from_utf8_lossy(sign);
        let read_as = &self.table.name;
        Err(self.error(py, &format!("the {what} {sign:?} is of the format {format}, the history is {read_as}")))
    }

    fn unknown_role(&self, role: &Bound<'_, PyAny>) -> PyErr {
        let shown = role.repr().map_or_else(|_| "?".to_string(), |repr| repr.to_string());
        self.error(role.py(), &format!("its role {shown} is not one of the format {}", self.table.name))
    }

    fn error(&self, py: Python<'_>, what: &str) -> PyErr {
        format_error(py, self.index, what)
    }
}

fn not_a_message(message: &Bound<'_, PyAny>) -> PyResult<String> {
    let class = message.get_type().qualname()?;
    let hint = if message.hasattr("model_dump")? { "; pass its model_dump(exclude_none=True)" } else { "" };
    Ok(format!("a {class} is not a message of a known format{hint}"))
}

/// The first message, from a start on, that tells its format: its index and the
/// format's name.
#[pyfunction]
pub(crate) fn recognise(
    messages: &Bound<'_, PyAny>,
    start: usize,
    recogniser: &Recogniser,
) -> PyResult<Option<(usize, String)>> {
    for (index, message) in messages.try_iter()?.enumerate().skip(start) {
        if let Some(format) = recognise_one(&message?, recogniser)? {
            return Ok(Some((index, format)));
        }
    }
    Ok(None)
}

fn recognise_one(message: &Bound<'_, PyAny>, recogniser: &Recogniser) -> PyResult<Option<String>> {
    let py = message.py();
    let Ok(dict) = message.cast::<PyDict>() else {
        let native = message.is_instance(recogniser.native.bind(py))?;
        return Ok(native.then(|| "turnfit".to_string()));
    };
    let signs = &recogniser.signs;
    let role = ascii_item(dict, intern!(py, "role"))?.and_then(|role| signs.roles.get(&role));
    if role.is_some() {
        return Ok(role.cloned());
    }
    for (key, value) in dict {
        let key = match key.cast::<PyString>() {
            Ok(key) => Text::of(key)?.ascii().and_then(|key| signs.keys.get(key)),
            Err(_) => None,
        };
        if key.is_some() && !value.is_none() {
            return Ok(key.cloned());
        }
    }
    let Some(content) = dict.get_item(intern!(py, "content"))? else { return Ok(None) };
    let Ok(parts) = content.cast::<PyList>() else { return Ok(None) };
    for part in parts {
        let Ok(part) = part.cast::<PyDict>() else { continue };
        let kind = ascii_item(part, intern!(py, "type"))?;
        if let Some(format) = kind.and_then(|kind| signs.parts.get(&kind)) {
            return Ok(Some(format.clone()));
        }
    }
    Ok(None)
}
