// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! The schemas of forms.

use super::super::*;

/// A form field that is yes or no. Since 2025-06-18.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BooleanSchema {
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with.
    pub default: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { BooleanSchema in 0b11100 {
    constant "type" = "\"boolean\"" in 0b11100 / 0b11100;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11100 / 0b00000;
    optional default: "default" in 0b11100 / 0b00000;
} }

/// A choice with a title. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnumOption {
    /// For people.
    pub title: String,
    /// `const`: the value.
    pub value: String,
    /// All other members.
    pub extra: Extra,
}

impl EnumOption {
    /// With what every revision requires, and nothing else.
    pub fn new(title: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            value: value.into(),
            extra: Extra::default(),
        }
    }
}

object! { EnumOption in 0b11000 {
    required title: "title" in 0b11000 / 0b11000;
    required value: "const" in 0b11000 / 0b11000;
} }

/// A choice of one, its titles in a list beside the values: the form of 2025-06-18. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    /// `enum`: the choices.
    pub values: Vec<String>,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with. Since 2025-11-25.
    pub default: Option<String>,
    /// Titles, in the order of the values.
    pub enum_names: Option<Vec<String>>,
    /// All other members.
    pub extra: Extra,
}

impl LegacyTitledEnumSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(values: Vec<String>) -> Self {
        Self {
            values,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            enum_names: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { LegacyTitledEnumSchema in 0b11100 {
    constant "type" = "\"string\"" in 0b11100 / 0b11100;
    required values: "enum" in 0b11100 / 0b11100;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11100 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
    optional enum_names: "enumNames" in 0b11100 / 0b00000;
} }

/// A form field for a number. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NumberSchema {
    /// `type`: whether it has to be whole.
    pub kind: NumberSchemaType,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with. Since 2025-11-25.
    pub default: Option<Number>,
    /// The largest number allowed.
    pub maximum: Option<Number>,
    /// The smallest number allowed.
    pub minimum: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

impl NumberSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(kind: NumberSchemaType) -> Self {
        Self {
            kind,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            maximum: Default::default(),
            minimum: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { NumberSchema in 0b11100 {
    required kind: "type" in 0b11100 / 0b11100;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11100 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
    optional maximum: "maximum" in 0b11100 / 0b00000;
    optional minimum: "minimum" in 0b11100 / 0b00000;
} }

/// Whether a number has to be whole. Since 2025-06-18.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumberSchemaType {
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// A value that is not known here.
    Other(String),
}

strings! { NumberSchemaType {
    Integer = "integer",
    Number = "number",
} }

/// The schema of one field of a form. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum PrimitiveSchemaDefinition {
    /// A form field for text. Since 2025-06-18.
    String(StringSchema),
    /// A form field for a number. Since 2025-06-18.
    Number(NumberSchema),
    /// A form field that is yes or no. Since 2025-06-18.
    Boolean(BooleanSchema),
    /// A choice of one. Since 2025-11-25.
    UntitledSingleSelectEnum(UntitledSingleSelectEnumSchema),
    /// A choice of one, with titles. Since 2025-11-25.
    TitledSingleSelectEnum(TitledSingleSelectEnumSchema),
    /// A choice of several. Since 2025-11-25.
    UntitledMultiSelectEnum(UntitledMultiSelectEnumSchema),
    /// A choice of several, with titles. Since 2025-11-25.
    TitledMultiSelectEnum(TitledMultiSelectEnumSchema),
    /// A choice of one, its titles in a list beside the values: the form of 2025-06-18. Since 2025-06-18.
    LegacyTitledEnum(LegacyTitledEnumSchema),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { PrimitiveSchemaDefinition {
    LegacyTitledEnum(LegacyTitledEnumSchema): "enum", "enumNames", "type" = "\"string\"";
    UntitledSingleSelectEnum(UntitledSingleSelectEnumSchema): "enum", "type" = "\"string\"";
    TitledSingleSelectEnum(TitledSingleSelectEnumSchema): "oneOf", "type" = "\"string\"";
    UntitledMultiSelectEnum(UntitledMultiSelectEnumSchema): "items", "type" = "\"array\"";
    TitledMultiSelectEnum(TitledMultiSelectEnumSchema): "items", "type" = "\"array\"";
    String(StringSchema): "type" = "\"string\"";
    Number(NumberSchema): "type" = "\"integer\"" | "\"number\"";
    Boolean(BooleanSchema): "type" = "\"boolean\"";
} }

/// A form: its fields, in the order to show them. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestedSchema {
    /// The fields, in order.
    pub properties: Map<PrimitiveSchemaDefinition>,
    /// `$schema`: the dialect of the schema. Since 2025-11-25.
    pub schema: Option<String>,
    /// The fields that have to be filled in.
    pub required: Option<Vec<String>>,
    /// All other members.
    pub extra: Extra,
}

impl RequestedSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(properties: Map<PrimitiveSchemaDefinition>) -> Self {
        Self {
            properties,
            schema: Default::default(),
            required: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { RequestedSchema in 0b11100 {
    constant "type" = "\"object\"" in 0b11100 / 0b11100;
    required properties: "properties" in 0b11100 / 0b11100;
    optional schema: "$schema" in 0b11000 / 0b00000;
    optional required: "required" in 0b11100 / 0b00000;
} }

/// What a text has to look like. Since 2025-06-18.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringFormat {
    /// `date`
    Date,
    /// `date-time`
    DateTime,
    /// `email`
    Email,
    /// `uri`
    Uri,
    /// A value that is not known here.
    Other(String),
}

strings! { StringFormat {
    Date = "date",
    DateTime = "date-time",
    Email = "email",
    Uri = "uri",
} }

/// A form field for text. Since 2025-06-18.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StringSchema {
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with. Since 2025-11-25.
    pub default: Option<String>,
    /// What it has to look like.
    pub format: Option<StringFormat>,
    /// The most characters allowed.
    pub max_length: Option<Number>,
    /// The fewest characters allowed.
    pub min_length: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

object! { StringSchema in 0b11100 {
    constant "type" = "\"string\"" in 0b11100 / 0b11100;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11100 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
    optional format: "format" in 0b11100 / 0b00000;
    optional max_length: "maxLength" in 0b11100 / 0b00000;
    optional min_length: "minLength" in 0b11100 / 0b00000;
} }

/// The choices, with titles, of a field that takes several. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TitledEnumItems {
    /// The choices.
    pub any_of: Vec<EnumOption>,
    /// All other members.
    pub extra: Extra,
}

impl TitledEnumItems {
    /// With what every revision requires, and nothing else.
    pub fn new(any_of: Vec<EnumOption>) -> Self {
        Self {
            any_of,
            extra: Extra::default(),
        }
    }
}

object! { TitledEnumItems in 0b11000 {
    required any_of: "anyOf" in 0b11000 / 0b11000;
} }

/// A choice of several, with titles. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    /// The choices.
    pub items: TitledEnumItems,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with.
    pub default: Option<Vec<String>>,
    /// The most choices allowed.
    pub max_items: Option<Number>,
    /// The fewest choices allowed.
    pub min_items: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

impl TitledMultiSelectEnumSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(items: TitledEnumItems) -> Self {
        Self {
            items,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            max_items: Default::default(),
            min_items: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { TitledMultiSelectEnumSchema in 0b11000 {
    constant "type" = "\"array\"" in 0b11000 / 0b11000;
    required items: "items" in 0b11000 / 0b11000;
    optional title: "title" in 0b11000 / 0b00000;
    optional description: "description" in 0b11000 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
    optional max_items: "maxItems" in 0b11000 / 0b00000;
    optional min_items: "minItems" in 0b11000 / 0b00000;
} }

/// A choice of one, with titles. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    /// The choices.
    pub one_of: Vec<EnumOption>,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with.
    pub default: Option<String>,
    /// All other members.
    pub extra: Extra,
}

impl TitledSingleSelectEnumSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(one_of: Vec<EnumOption>) -> Self {
        Self {
            one_of,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { TitledSingleSelectEnumSchema in 0b11000 {
    constant "type" = "\"string\"" in 0b11000 / 0b11000;
    required one_of: "oneOf" in 0b11000 / 0b11000;
    optional title: "title" in 0b11000 / 0b00000;
    optional description: "description" in 0b11000 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
} }

/// The choices of a field that takes several. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UntitledEnumItems {
    /// `enum`: the choices.
    pub values: Vec<String>,
    /// All other members.
    pub extra: Extra,
}

impl UntitledEnumItems {
    /// With what every revision requires, and nothing else.
    pub fn new(values: Vec<String>) -> Self {
        Self {
            values,
            extra: Extra::default(),
        }
    }
}

object! { UntitledEnumItems in 0b11000 {
    constant "type" = "\"string\"" in 0b11000 / 0b11000;
    required values: "enum" in 0b11000 / 0b11000;
} }

/// A choice of several. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    /// The choices.
    pub items: UntitledEnumItems,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with.
    pub default: Option<Vec<String>>,
    /// The most choices allowed.
    pub max_items: Option<Number>,
    /// The fewest choices allowed.
    pub min_items: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

impl UntitledMultiSelectEnumSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(items: UntitledEnumItems) -> Self {
        Self {
            items,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            max_items: Default::default(),
            min_items: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { UntitledMultiSelectEnumSchema in 0b11000 {
    constant "type" = "\"array\"" in 0b11000 / 0b11000;
    required items: "items" in 0b11000 / 0b11000;
    optional title: "title" in 0b11000 / 0b00000;
    optional description: "description" in 0b11000 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
    optional max_items: "maxItems" in 0b11000 / 0b00000;
    optional min_items: "minItems" in 0b11000 / 0b00000;
} }

/// A choice of one. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    /// `enum`: the choices.
    pub values: Vec<String>,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// The value to begin with.
    pub default: Option<String>,
    /// All other members.
    pub extra: Extra,
}

impl UntitledSingleSelectEnumSchema {
    /// With what every revision requires, and nothing else.
    pub fn new(values: Vec<String>) -> Self {
        Self {
            values,
            title: Default::default(),
            description: Default::default(),
            default: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { UntitledSingleSelectEnumSchema in 0b11000 {
    constant "type" = "\"string\"" in 0b11000 / 0b11000;
    required values: "enum" in 0b11000 / 0b11000;
    optional title: "title" in 0b11000 / 0b00000;
    optional description: "description" in 0b11000 / 0b00000;
    optional default: "default" in 0b11000 / 0b00000;
} }
