//! A wire format as a table: which keys of a message hold what.
//!
//! The tables are written in Python, one module a format (`turnfit.messages.formats`),
//! and compiled here once. Reading ([`crate::history`]) and rewriting
//! ([`crate::request`]) go by them and know no format.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyType};
use turnfit_core::facts::Role;

use crate::compile::{read_keys, read_parts, read_roles};
use crate::history::tells;
use crate::text::Text;

/// What stands under a key.
pub(crate) enum Use {
    /// Part of the frame: costs nothing.
    Free,
    /// A text, or a value priced as JSON.
    Text,
    /// A text that stands for reasoning, in a thing that isn't reasoning itself.
    Thought,
    /// The id that pairs a call with its results.
    Id,
    /// A tool's name.
    Name,
    /// The content of a message or result; the arguments of a call.
    Body(Body),
    /// An encrypted payload.
    Sealed,
    /// A medium, whatever its form.
    Medium,
    /// A medium, or a text to be priced, as its `type` says.
    Source,
    /// More keys of the same thing.
    Nested(Fields),
    /// A thing of its own, or a list of such things.
    Things(Shape),
}

impl Use {
    /// Whether a value under this key is as if it weren't there.
    #[inline]
    pub(crate) fn costs_nothing(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Use::Free => true,
            Use::Nested(_) => value.is_none() || value.cast::<PyDict>().is_ok_and(PyDictMethods::is_empty),
            Use::Things(_) => value.is_none() || value.cast::<PyList>().is_ok_and(PyListMethods::is_empty),
            _ => value.is_none(),
        }
    }
}

/// What a message or a part of one is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Call,
    Result,
    /// Stands for something that the provider holds, perhaps for a call.
    Reference,
    /// What precedes it, the provider has replaced by it.
    Marker,
    /// Passes as it is, and is priced as its whole JSON.
    Opaque,
}

impl Kind {
    /// Whether things of this kind are told to the ledger, each as a row.
    pub(crate) fn is_row(self) -> bool {
        matches!(self, Kind::Call | Kind::Result | Kind::Reference)
    }
}

/// How the content of a message or result is built, or the arguments of a call.
#[derive(Default)]
pub(crate) struct Body {
    /// What a list holds, where its parts aren't told by their `type`.
    pub(crate) part: Option<Box<Shape>>,
    /// The key under which a text stands in a content that must be an object.
    pub(crate) wrap: Option<Py<PyString>>,
    /// From a note's wording to the content that bears it.
    pub(crate) note: Option<Py<PyAny>>,
}

impl Body {
    /// The content that bears a note.
    pub(crate) fn bearing<'py>(&self, wording: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match (&self.note, &self.wrap) {
            (Some(note), _) => note.bind(wording.py()).call1((wording,)),
            (None, Some(key)) => {
                let content = PyDict::new(wording.py());
                content.set_item(key, wording)?;
                Ok(content.into_any())
            }
            (None, None) => Ok(wording.clone()),
        }
    }

    /// The text of a content that is an object around it and nothing more.
    pub(crate) fn wrapped<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Some(key), Ok(dict)) = (&self.wrap, value.cast::<PyDict>()) else { return Ok(None) };
        if dict.len() != 1 {
            return Ok(None);
        }
        Ok(dict.get_item(key)?.filter(PyAnyMethods::is_instance_of::<PyString>))
    }
}

/// The keys of a thing.
pub(crate) struct Fields {
    pub(crate) uses: Named<Use>,
    /// The interned names: most keys are these very objects.
    pub(crate) names: Vec<Py<PyString>>,
    /// Where the body is, if it isn't nested.
    pub(crate) body: Option<usize>,
}

/// A thing: a message, a part, a call.
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) clearable: bool,
    pub(crate) fields: Fields,
    /// The message's key under which the same stands already, if anything stands there.
    pub(crate) unless: Option<Py<PyString>>,
    /// It is a call or a result only where something stands under this key.
    pub(crate) needs: Option<Py<PyString>>,
    /// What a thing that came to its end has a text under.
    pub(crate) signed: Option<Py<PyString>>,
    /// Under what a thing tells that it didn't.
    pub(crate) status: Option<Py<PyString>>,
    pub(crate) thought: Thought,
    /// It is refused without the reasoning before it in the same response.
    pub(crate) bound: bool,
}

/// Whether a thing is reasoning.
pub(crate) enum Thought {
    Never,
    Always,
    /// Where something true stands under this key.
    Where(Py<PyString>),
}

impl Shape {
    /// Whether a thing was broken off before its end.
    pub(crate) fn is_unfinished(&self, dict: &Bound<'_, PyDict>) -> PyResult<bool> {
        if let Some(key) = &self.signed {
            return Ok(!dict.get_item(key)?.is_some_and(|signature| signature.is_truthy().unwrap_or(true)));
        }
        let Some(key) = &self.status else { return Ok(false) };
        let stopped = |status: &[u8]| matches!(status, b"in_progress" | b"incomplete").then_some(());
        Ok(ascii_item(dict, key.bind(dict.py()), stopped)?.is_some())
    }

    /// Whether a thing of this shape is reasoning.
    pub(crate) fn is_thought(&self, dict: &Bound<'_, PyDict>) -> PyResult<bool> {
        match &self.thought {
            Thought::Never => Ok(false),
            Thought::Always => Ok(true),
            Thought::Where(key) => dict.get_item(key)?.map_or(Ok(false), |value| value.is_truthy()),
        }
    }

    /// Whether the message holds the same in another place.
    pub(crate) fn is_told_by(&self, message: &Bound<'_, PyDict>) -> PyResult<bool> {
        let Some(key) = &self.unless else { return Ok(false) };
        Ok(message.get_item(key)?.is_some_and(|value| tells(&value)))
    }

    /// What a thing of this shape is.
    pub(crate) fn kind_of(&self, dict: &Bound<'_, PyDict>) -> PyResult<Kind> {
        let Some(key) = &self.needs else { return Ok(self.kind) };
        let there = dict.get_item(key)?.is_some_and(|value| !value.is_none());
        Ok(if there { self.kind } else { Kind::Plain })
    }
}

/// What tells a format from the others: roles and types of messages, keys of
/// messages, types of parts, keys of parts that have no type.
#[derive(Default)]
pub(crate) struct Signs {
    pub(crate) roles: HashMap<Box<[u8]>, String>,
    pub(crate) types: HashMap<Box<[u8]>, String>,
    pub(crate) keys: HashMap<Box<[u8]>, String>,
    pub(crate) parts: HashMap<Box<[u8]>, String>,
    pub(crate) part_keys: HashMap<Box<[u8]>, String>,
}

/// A few things by their names, the names compared one by one.
pub(crate) struct Named<T>(pub(crate) Vec<(Box<[u8]>, T)>);

impl<T> Named<T> {
    fn get(&self, wanted: &[u8]) -> Option<&T> {
        self.position(wanted).map(|number| &self.0[number].1)
    }

    fn position(&self, wanted: &[u8]) -> Option<usize> {
        self.0.iter().position(|(name, _)| **name == *wanted)
    }
}

/// From the name of a role, or of a message's type, to the role that it plays and a
/// message's shape; the second are names' endings.
pub(crate) type Roles = (Named<(Role, Shape)>, Vec<(Box<[u8]>, (Role, Shape))>);

/// A compiled wire format.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Table {
    pub(crate) name: String,
    roles: Roles,
    /// The keys of a message that tell its role or type, in this order.
    told_by: Vec<Py<PyString>>,
    /// What a message is that tells neither.
    default: Option<String>,
    /// Whether the items of one response stand one after another.
    pub(crate) flat: bool,
    /// Whether the provider may have replaced a part of a history.
    pub(crate) has_markers: bool,
    /// Whether messages may be reasoning and nothing else.
    pub(crate) has_reasoning: bool,
    parts: Named<Shape>,
    endings: Vec<(Box<[u8]>, Shape)>,
    pub(crate) foreign: Signs,
    /// For formats whose messages are objects: from a message to its rows.
    pub(crate) reader: Option<Py<PyAny>>,
    /// Likewise: from a message and edits to the message with them made.
    pub(crate) rewriter: Option<Py<PyAny>>,
    /// For messages that are objects with their fields in a dict: whether a class is
    /// one of theirs.
    is_class: Option<Py<PyAny>>,
    /// The classes that were found to be.
    classes: Mutex<Vec<Py<PyType>>>,
    /// Likewise: from a message and its changed fields to a copy.
    pub(crate) rebuild: Option<Py<PyAny>>,
    /// From a note's wording to the message that bears it.
    pub(crate) note: Py<PyAny>,
    /// From the messages of a response to what is left of them without their reasoning.
    pub(crate) strip: Option<Py<PyAny>>,
}

#[pymethods]
impl Table {
    /// Compiles a `turnfit.messages.formats.Format`; `foreign` holds the signs of
    /// the other formats.
    #[new]
    fn new(format: &Bound<'_, PyAny>, foreign: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (parts, endings) = read_parts(&format.getattr("parts")?)?;
        let roles = read_roles(&format.getattr("roles")?)?;
        let mut shapes =
            roles.0.0.iter().map(|(_, (_, shape))| shape).chain(parts.0.iter().map(|(_, part)| part));
        Ok(Table {
            has_markers: shapes.any(|shape| shape.kind == Kind::Marker),
            has_reasoning: roles.0.get(b"reasoning").is_some(),
            name: format.getattr("name")?.extract()?,
            roles,
            told_by: read_keys(&format.getattr("told_by")?)?,
            default: format.getattr("default")?.extract()?,
            flat: format.getattr("flat")?.extract()?,
            parts,
            endings,
            foreign: Signs::from_python(foreign)?,
            reader: format.getattr("reader")?.extract()?,
            rewriter: format.getattr("rewriter")?.extract()?,
            is_class: format.getattr("is_class")?.extract()?,
            classes: Mutex::default(),
            rebuild: format.getattr("rebuild")?.extract()?,
            note: format.getattr("note")?.unbind(),
            strip: format.getattr("strip")?.extract()?,
        })
    }
}

impl Table {
    /// The role that a message plays, and its shape; None where it doesn't tell a
    /// known one.
    pub(crate) fn told(&self, message: &Bound<'_, PyDict>) -> PyResult<Option<&(Role, Shape)>> {
        for key in &self.told_by {
            let Some(name) = first_or_item(message, key)? else { continue };
            if let Some(told) = with_ascii(&name, |name| self.roles.0.get(name))? {
                return Ok(Some(told));
            }
        }
        self.told_otherwise(message)
    }

    /// By the ending of its type, or as what tells nothing is taken.
    fn told_otherwise(&self, message: &Bound<'_, PyDict>) -> PyResult<Option<&(Role, Shape)>> {
        let [kind, others @ ..] = &*self.told_by else { return Ok(None) };
        for key in others {
            // A role that isn't known is told, but wrongly.
            if message.get_item(key)?.is_some_and(|name| !name.is_none()) {
                return Ok(None);
            }
        }
        match message.get_item(kind)?.filter(|name| !name.is_none()) {
            Some(name) => with_ascii(&name, |name| {
                self.roles.1.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, told)| told)
            }),
            None => self.untold(message),
        }
    }

    fn untold(&self, message: &Bound<'_, PyDict>) -> PyResult<Option<&(Role, Shape)>> {
        let told = self.default.as_ref().and_then(|name| self.roles.0.get(name.as_bytes()));
        let Some((_, shape)) = told else { return Ok(None) };
        let enough = match &shape.needs {
            Some(key) => message.contains(key)?,
            None => true,
        };
        Ok(told.filter(|_| enough))
    }

    /// Whether a message is an object of this format, with its fields in a dict.
    pub(crate) fn has_class_of(&self, message: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(is_class) = &self.is_class else { return Ok(false) };
        let class = message.get_type();
        let known = || self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        if known().iter().any(|one| one.is(&class)) {
            return Ok(true);
        }
        let found = is_class.bind(message.py()).call1((&class,))?.is_truthy()?;
        if found {
            known().push(class.unbind());
        }
        Ok(found)
    }

    /// What a message tells of its role, where that isn't known; None where it tells nothing.
    pub(crate) fn mistold<'py>(&self, message: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyAny>>> {
        for key in self.told_by.iter().rev() {
            if let Some(name) = message.get_item(key)?.filter(|name| !name.is_none()) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The name by which a message tells its role or type, if it does.
    pub(crate) fn telling<'py>(
        &self,
        message: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let mut first = None;
        for key in &self.told_by {
            let Some(name) = message.get_item(key)? else { continue };
            let Ok(name) = name.cast_into::<PyString>() else { continue };
            if Text::of(&name)?.ascii().is_some_and(|name| self.roles.0.get(name).is_some()) {
                return Ok(Some(name));
            }
            first.get_or_insert(name);
        }
        Ok(first)
    }

    pub(crate) fn part(&self, kind: &[u8]) -> Option<&Shape> {
        self.parts.get(kind).or_else(|| {
            let ending = self.endings.iter().find(|(ending, _)| kind.ends_with(ending))?;
            Some(&ending.1)
        })
    }
}

impl Fields {
    /// The key of the body and how it is built, if it isn't nested.
    pub(crate) fn body(&self) -> Option<(&Py<PyString>, &Body)> {
        let number = self.body?;
        match &self.uses.0[number].1 {
            Use::Body(body) => Some((&self.names[number], body)),
            _ => None,
        }
    }

    /// The number of a key among the fields, if the table tells of it.
    #[inline(always)]
    pub(crate) fn position(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        match self.names.iter().position(|name| name.is(key)) {
            None => self.position_by_name(key),
            known => Ok(known),
        }
    }

    fn position_by_name(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let Ok(key) = key.cast::<PyString>() else { return Ok(None) };
        Ok(Text::of(key)?.ascii().and_then(|key| self.uses.position(key)))
    }

    /// The key of this number.
    pub(crate) fn name(&self, number: usize) -> &[u8] {
        &self.uses.0[number].0
    }

    /// What stands under the key of this number.
    pub(crate) fn at(&self, number: usize) -> &Use {
        &self.uses.0[number].1
    }

    /// What stands under a key, if the table tells.
    pub(crate) fn get(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<&Use>> {
        Ok(self.position(key)?.map(|number| self.at(number)))
    }
}

/// What a function makes of the ASCII string under a key; None where there is none.
pub(crate) fn ascii_item<'py, T>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
    made: impl FnOnce(&[u8]) -> Option<T>,
) -> PyResult<Option<T>> {
    let Some(value) = dict.get_item(key)? else { return Ok(None) };
    with_ascii(&value, made)
}

/// What stands under a key; most messages begin with the one that tells their role.
fn first_or_item<'py>(dict: &Bound<'py, PyDict>, key: &Py<PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match dict.iter().next() {
        Some((first, value)) if first.is(key) => Ok(Some(value)),
        _ => dict.get_item(key),
    }
}

fn with_ascii<T>(value: &Bound<'_, PyAny>, made: impl FnOnce(&[u8]) -> Option<T>) -> PyResult<Option<T>> {
    let Ok(string) = value.cast::<PyString>() else { return Ok(None) };
    Ok(Text::of(string)?.ascii().and_then(made))
}

impl Signs {
    /// From `{"roles": {...}, "keys": {...}, ...}`, each from a sign to the name of the
    /// format it tells.
    fn from_python(signs: &Bound<'_, PyAny>) -> PyResult<Self> {
        let read = |which: &str| -> PyResult<HashMap<Box<[u8]>, String>> {
            let signs: HashMap<String, String> = signs.get_item(which)?.extract()?;
            Ok(signs.into_iter().map(|(sign, format)| (sign.into_bytes().into(), format)).collect())
        };
        Ok(Signs {
            roles: read("roles")?,
            types: read("types")?,
            keys: read("keys")?,
            parts: read("parts")?,
            part_keys: read("part_keys")?,
        })
    }
}

/// The signs of all formats, to recognise one by.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Recogniser {
    pub(crate) signs: Signs,
    /// From a message that is no dict to the name of its format, or None.
    pub(crate) of_object: Py<PyAny>,
}

#[pymethods]
impl Recogniser {
    #[new]
    fn new(signs: &Bound<'_, PyAny>, of_object: Py<PyAny>) -> PyResult<Self> {
        Ok(Recogniser { signs: Signs::from_python(signs)?, of_object })
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

pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
