//! A wire format as a table: which keys of a message hold what.
//!
//! The tables are written in Python, one module a format (`turnfit.messages.formats`),
//! and compiled here once. Reading ([`crate::history`]) and rewriting
//! ([`crate::request`]) go by them and know no format.

use std::collections::HashMap;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use turnfit_core::facts::Role;

use crate::text::Text;

/// What stands under a key.
pub(crate) enum Use {
    /// Part of the frame: costs nothing.
    Free,
    /// A text, or a value priced as JSON.
    Text,
    /// The id that pairs a call with its results.
    Id,
    /// A tool's name.
    Name,
    /// The content of a message or result; the arguments of a call.
    Body,
    /// A medium, whatever its form.
    Medium,
    /// A medium, or a text to be priced, as its `type` says.
    Source,
    /// More keys of the same thing.
    Nested(Fields),
    /// A thing of its own, or a list of such things.
    Things(Shape),
}

/// What a message or a part of one is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Call,
    Result,
}

/// The keys of a thing.
pub(crate) struct Fields {
    uses: Named<Use>,
    /// The interned names: most keys are these very objects.
    names: Vec<Py<PyString>>,
    /// The key of the body, if it isn't nested.
    pub(crate) body: Option<Py<PyString>>,
}

/// A thing: a message, a part, a call.
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) clearable: bool,
    pub(crate) fields: Fields,
}

/// What tells a format from the others: roles, keys of messages, types of parts.
#[derive(Default)]
pub(crate) struct Signs {
    pub(crate) roles: HashMap<Box<[u8]>, String>,
    pub(crate) keys: HashMap<Box<[u8]>, String>,
    pub(crate) parts: HashMap<Box<[u8]>, String>,
}

/// A few things by their names, the names compared one by one.
struct Named<T>(Vec<(Box<[u8]>, T)>);

impl<T> Named<T> {
    fn get(&self, wanted: &[u8]) -> Option<&T> {
        self.0.iter().find(|(name, _)| **name == *wanted).map(|(_, thing)| thing)
    }
}

/// From a role's name to the role that it plays, and a message's shape.
type Roles = Named<(Role, Shape)>;

/// A compiled wire format.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Table {
    pub(crate) name: String,
    roles: Roles,
    parts: Named<Shape>,
    endings: Vec<(Box<[u8]>, Shape)>,
    pub(crate) foreign: Signs,
    /// For formats whose messages are objects: from a message to its rows.
    pub(crate) reader: Option<Py<PyAny>>,
    /// Likewise: from a message and edits to the message with them made.
    pub(crate) rewriter: Option<Py<PyAny>>,
    /// From a note's wording to the message that bears it.
    pub(crate) note: Py<PyAny>,
}

#[pymethods]
impl Table {
    /// Compiles a `turnfit.messages.formats.Format`; `foreign` holds the signs of
    /// the other formats.
    #[new]
    fn new(format: &Bound<'_, PyAny>, foreign: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (parts, endings) = read_parts(&format.getattr("parts")?)?;
        Ok(Table {
            name: format.getattr("name")?.extract()?,
            roles: read_roles(&format.getattr("roles")?)?,
            parts,
            endings,
            foreign: Signs::from_python(foreign)?,
            reader: format.getattr("reader")?.extract()?,
            rewriter: format.getattr("rewriter")?.extract()?,
            note: format.getattr("note")?.unbind(),
        })
    }
}

impl Table {
    pub(crate) fn role(&self, role: &[u8]) -> Option<&(Role, Shape)> {
        self.roles.get(role)
    }

    pub(crate) fn part(&self, kind: &[u8]) -> Option<&Shape> {
        self.parts.get(kind).or_else(|| {
            let ending = self.endings.iter().find(|(ending, _)| kind.ends_with(ending))?;
            Some(&ending.1)
        })
    }
}

impl Fields {
    /// What stands under a key, if the table tells.
    pub(crate) fn get(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<&Use>> {
        if let Some(number) = self.names.iter().position(|name| name.is(key)) {
            return Ok(Some(&self.uses.0[number].1));
        }
        let Ok(key) = key.cast::<PyString>() else { return Ok(None) };
        Ok(Text::of(key)?.ascii().and_then(|key| self.uses.get(key)))
    }
}

/// What a function makes of the ASCII string under a key; None where there is none.
pub(crate) fn ascii_item<'py, T>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
    made: impl FnOnce(&[u8]) -> Option<T>,
) -> PyResult<Option<T>> {
    let Some(value) = dict.get_item(key)? else { return Ok(None) };
    let Ok(string) = value.cast::<PyString>() else { return Ok(None) };
    Ok(Text::of(string)?.ascii().and_then(made))
}

impl Signs {
    /// From `{"roles": {...}, "keys": {...}, "parts": {...}}`, each from a sign to
    /// the name of the format it tells.
    fn from_python(signs: &Bound<'_, PyAny>) -> PyResult<Self> {
        let read = |which: &str| -> PyResult<HashMap<Box<[u8]>, String>> {
            let signs: HashMap<String, String> = signs.get_item(which)?.extract()?;
            Ok(signs.into_iter().map(|(sign, format)| (sign.into_bytes().into(), format)).collect())
        };
        Ok(Signs { roles: read("roles")?, keys: read("keys")?, parts: read("parts")? })
    }
}

/// The signs of all formats, to recognise one by.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Recogniser {
    pub(crate) signs: Signs,
    /// The class of native messages.
    pub(crate) native: Py<PyAny>,
}

#[pymethods]
impl Recogniser {
    #[new]
    fn new(signs: &Bound<'_, PyAny>, native: Py<PyAny>) -> PyResult<Self> {
        Ok(Recogniser { signs: Signs::from_python(signs)?, native })
    }
}

pub(crate) fn role_named(role: &str) -> PyResult<Role> {
    match role {
        "system" => Ok(Role::System),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "tool" => Ok(Role::Tool),
        other => {
            Err(PyValueError::new_err(format!("role must be system, user, assistant or tool, not {other:?}")))
        }
    }
}

fn read_roles(roles: &Bound<'_, PyAny>) -> PyResult<Roles> {
    let mut read = Vec::new();
    for (name, value) in roles.cast::<PyDict>()? {
        let (role, shape): (String, Bound<'_, PyAny>) = value.extract()?;
        let name = name.extract::<String>()?.into_bytes().into();
        read.push((name, (role_named(&role)?, read_shape(&shape)?)));
    }
    Ok(Named(read))
}

type Parts = (Named<Shape>, Vec<(Box<[u8]>, Shape)>);

/// A name that begins with `*` stands for all that end so.
fn read_parts(parts: &Bound<'_, PyAny>) -> PyResult<Parts> {
    let (mut exact, mut endings) = (Vec::new(), Vec::new());
    for (name, shape) in parts.cast::<PyDict>()? {
        let name: String = name.extract()?;
        let shape = read_shape(&shape)?;
        match name.strip_prefix('*') {
            Some(ending) => endings.push((ending.as_bytes().into(), shape)),
            None => exact.push((name.into_bytes().into(), shape)),
        }
    }
    Ok((Named(exact), endings))
}

fn read_shape(shape: &Bound<'_, PyAny>) -> PyResult<Shape> {
    let kind = match shape.getattr("kind")?.extract::<String>()?.as_str() {
        "plain" => Kind::Plain,
        "call" => Kind::Call,
        "result" => Kind::Result,
        other => return Err(PyValueError::new_err(format!("unknown kind {other:?} in a format"))),
    };
    let clearable = shape.getattr("clearable")?.extract()?;
    Ok(Shape { kind, clearable, fields: read_fields(&shape.getattr("fields")?)? })
}

fn read_fields(fields: &Bound<'_, PyAny>) -> PyResult<Fields> {
    let (mut uses, mut names, mut body) = (Vec::new(), Vec::new(), None);
    for (key, value) in fields.cast::<PyDict>()? {
        let key = PyString::intern(key.py(), key.cast::<PyString>()?.to_str()?);
        uses.push((key.to_str()?.as_bytes().into(), read_use(&value)?));
        if matches!(uses.last(), Some((_, Use::Body))) {
            body = Some(key.clone().unbind());
        }
        names.push(key.unbind());
    }
    Ok(Fields { uses: Named(uses), names, body })
}

fn read_use(value: &Bound<'_, PyAny>) -> PyResult<Use> {
    if value.is_instance_of::<PyDict>() {
        return Ok(Use::Nested(read_fields(value)?));
    }
    let Ok(name) = value.cast::<PyString>() else { return Ok(Use::Things(read_shape(value)?)) };
    Ok(match name.to_str()? {
        "free" => Use::Free,
        "text" => Use::Text,
        "id" => Use::Id,
        "name" => Use::Name,
        "body" => Use::Body,
        "medium" => Use::Medium,
        "source" => Use::Source,
        other => return Err(PyTypeError::new_err(format!("unknown use {other:?} in a format"))),
    })
}
