//! Compiles a format as Python declares it (`turnfit.messages.formats.table`).

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::table::{Body, Fields, Kind, Named, Roles, Shape, Thought, Use, role_named};

pub(crate) fn read_roles(roles: &Bound<'_, PyAny>) -> PyResult<Roles> {
    let (mut exact, mut endings) = (Vec::new(), Vec::new());
    for (name, value) in roles.cast::<PyDict>()? {
        let (role, shape): (String, Bound<'_, PyAny>) = value.extract()?;
        let told = (role_named(&role)?, read_shape(&shape)?);
        sort_name(name.extract()?, told, &mut exact, &mut endings);
    }
    Ok((Named(exact), endings))
}

/// A name that begins with `*` stands for all that end so.
fn sort_name<T>(name: String, thing: T, exact: &mut Vec<(Box<[u8]>, T)>, endings: &mut Vec<(Box<[u8]>, T)>) {
    match name.strip_prefix('*') {
        Some(ending) => endings.push((ending.as_bytes().into(), thing)),
        None => exact.push((name.into_bytes().into(), thing)),
    }
}

pub(crate) fn read_keys(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyString>>> {
    let interned = |key: Bound<'_, PyAny>| Ok(PyString::intern(key.py(), &key.extract::<String>()?).unbind());
    keys.try_iter()?.map(|key| interned(key?)).collect()
}

type Parts = (Named<Shape>, Vec<(Box<[u8]>, Shape)>);

pub(crate) fn read_parts(parts: &Bound<'_, PyAny>) -> PyResult<Parts> {
    let (mut exact, mut endings) = (Vec::new(), Vec::new());
    for (name, shape) in parts.cast::<PyDict>()? {
        sort_name(name.extract()?, read_shape(&shape)?, &mut exact, &mut endings);
    }
    Ok((Named(exact), endings))
}

fn read_shape(shape: &Bound<'_, PyAny>) -> PyResult<Shape> {
    let kind = match shape.getattr("kind")?.extract::<String>()?.as_str() {
        "plain" => Kind::Plain,
        "call" => Kind::Call,
        "result" => Kind::Result,
        "reference" => Kind::Reference,
        "marker" => Kind::Marker,
        "opaque" => Kind::Opaque,
        other => return Err(PyValueError::new_err(format!("unknown kind {other:?} in a format"))),
    };
    let clearable = shape.getattr("clearable")?.extract()?;
    let fields = read_fields(&shape.getattr("fields")?)?;
    let (unless, needs) = (read_key(shape, "unless")?, read_key(shape, "needs")?);
    let (thought, bound) = (read_thought(&shape.getattr("thought")?)?, shape.getattr("bound")?.extract()?);
    Ok(Shape { kind, clearable, fields, unless, needs, thought, bound })
}

fn read_thought(thought: &Bound<'_, PyAny>) -> PyResult<Thought> {
    if let Ok(key) = thought.cast::<PyString>() {
        return Ok(Thought::Where(PyString::intern(key.py(), key.to_str()?).unbind()));
    }
    Ok(if thought.extract()? { Thought::Always } else { Thought::Never })
}

fn read_key(thing: &Bound<'_, PyAny>, attribute: &str) -> PyResult<Option<Py<PyString>>> {
    let key: Option<String> = thing.getattr(attribute)?.extract()?;
    Ok(key.map(|key| PyString::intern(thing.py(), &key).unbind()))
}

fn read_body(body: &Bound<'_, PyAny>) -> PyResult<Body> {
    let part = body.getattr("of")?;
    let part = if part.is_none() { None } else { Some(Box::new(read_shape(&part)?)) };
    Ok(Body { part, wrap: read_key(body, "wrap")?, note: body.getattr("note")?.extract()? })
}

fn read_fields(fields: &Bound<'_, PyAny>) -> PyResult<Fields> {
    let (mut uses, mut names, mut body) = (Vec::new(), Vec::new(), None);
    for (key, value) in fields.cast::<PyDict>()? {
        let key = PyString::intern(key.py(), key.cast::<PyString>()?.to_str()?);
        uses.push((key.to_str()?.as_bytes().into(), read_use(&value)?));
        if matches!(uses.last(), Some((_, Use::Body(_)))) {
            body = Some(names.len());
        }
        names.push(key.unbind());
    }
    Ok(Fields { uses: Named(uses), names, body })
}

fn read_use(value: &Bound<'_, PyAny>) -> PyResult<Use> {
    if value.is_instance_of::<PyDict>() {
        return Ok(Use::Nested(read_fields(value)?));
    }
    let Ok(name) = value.cast::<PyString>() else {
        let is_shape = value.hasattr("kind")?;
        return Ok(if is_shape { Use::Things(read_shape(value)?) } else { Use::Body(read_body(value)?) });
    };
    Ok(match name.to_str()? {
        "free" => Use::Free,
        "text" => Use::Text,
        "thought" => Use::Thought,
        "id" => Use::Id,
        "name" => Use::Name,
        "body" => Use::Body(Body::default()),
        "medium" => Use::Medium,
        "source" => Use::Source,
        other => return Err(PyTypeError::new_err(format!("unknown use {other:?} in a format"))),
    })
}
