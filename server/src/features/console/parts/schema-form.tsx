/** Fields made from a JSON schema, and how their values are read, so that plugins need no pages. */

import { isSecret } from '@claimcheck/core/hosting'
import { type JsonObject, type JsonValue, jsonIn } from '@claimcheck/core/rules'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import type { Issue, Loc } from '../../../base/errors.ts'
import {
  choicesOf,
  isRequired,
  labelOf,
  type Property,
  propertiesOf,
  written,
} from '../../../base/schema-properties.ts'
import { counted, formInWords } from '../../../base/validation-wording.ts'
import { Prose, sentence } from '../../../web/words.tsx'
import { type Fields, linesOf } from '../request-fields.ts'
import { Checkbox, Field, type FieldProps, Select } from './form.tsx'
import { type Kind, kindOf } from './schema-properties.ts'
import { TimeField, utcOf } from './time-field.tsx'

/** Problems by the names of the fields. The empty name has those that concern no single field. */
export type Problems = Readonly<Record<string, string>>

/**
 * The fields of an object schema, one for each property.
 * @param values the values by the names of the fields, without secrets, which are never shown
 * @param prefix the prefix of the fields' names, which no other field of the page has
 */
export function SchemaFields({
  schema,
  values,
  problems,
  prefix,
}: {
  schema: TSchema
  values: Fields
  problems: Problems
  prefix: string
}) {
  return propertiesOf(schema).map(([key, property]) => {
    const name = prefix + key
    const { Shown } = KINDS[kindOf(property)]
    return (
      <Shown
        name={name}
        label={labelOf(property, key)}
        help={helpOf(property)}
        problem={problems[name]}
        required={isRequired(schema, key)}
        value={values[name]}
        property={property}
      />
    )
  })
}

const WITH_EXAMPLES: ReadonlySet<Kind> = new Set(['text', 'integer', 'number', 'lines', 'json'])

/** Makes the help of a field: the description of the property, and its first example where that is not in it. */
function helpOf(property: Property): ComponentChildren {
  const { description = '', examples, items } = property
  const [example = items?.examples?.[0]] = kindOf(property) === 'lines' ? (examples?.flat() ?? []) : (examples ?? [])
  const text = example === undefined ? '' : written(example)
  if (text === '' || description.includes(text) || !WITH_EXAMPLES.has(kindOf(property)))
    return description && <Prose text={description} />
  return (
    <>
      {description !== '' && <Prose text={description} />} For example: <code>{text}</code>.
    </>
  )
}

/** Returns the schema's defaults as the values of a new form. */
export function startingValues(schema: TSchema, prefix: string): Fields {
  const given = propertiesOf(schema).filter(([, property]) => property.default !== undefined && !isSecret(property))
  return Object.fromEntries(
    given.map(([key, property]) => [prefix + key, KINDS[kindOf(property)].write(property.default as JsonValue)]),
  )
}

/**
 * Reads the form, for validation against the schema. An empty field gives no value; a text that is no number, or no JSON where that is asked for,
 * stays as it is, for validation to refuse.
 */
export function readSchemaForm(schema: TSchema, form: Fields, prefix: string): JsonObject {
  const entries = propertiesOf(schema).map(([key, property]): [string, JsonValue | undefined] => {
    const text = form[prefix + key] ?? ''
    const kind = kindOf(property)
    if (kind !== 'boolean') return [key, text.trim() === '' ? undefined : KINDS[kind].read(text, property)]
    // Browsers do not send an empty checkbox: for an optional property without default that means no value.
    const isGiven = text !== '' || isRequired(schema, key) || property.default === true
    return [key, isGiven ? KINDS.boolean.read(text, property) : undefined]
  })
  return Object.fromEntries(entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined))
}

/**
 * Sorts problems by the names of the fields.
 * @param under the location of the object that the form was read into
 */
export function problemsByField(issues: readonly Issue[], under: Loc, prefix: string): Problems {
  const problems: Record<string, string> = {}
  for (const issue of issues) {
    if (under.some((step, index) => issue.loc[index] !== step)) continue
    const [key, ...inside] = issue.loc.slice(under.length)
    const name = key === undefined ? '' : prefix + key
    const place = inside.map((step) => (typeof step === 'number' ? `line ${step + 1}` : step)).join(', ')
    problems[name] ??= place ? `${place}: ${inWords(issue)}` : inWords(issue)
  }
  return problems
}

type ShownProps = Pick<FieldProps, 'name' | 'label' | 'help' | 'problem' | 'required' | 'value'> & {
  readonly property: Property
}

interface KindOfField {
  readonly Shown: (props: ShownProps) => ComponentChildren
  /** Makes a value of the typed text, for validation. */
  readonly read: (text: string, property: Property) => JsonValue
  /** Writes a value in the form in which people type it. */
  readonly write: (value: JsonValue) => string
}

const TEXT = { autocomplete: 'off', spellcheck: false } as const

// Fields have no maxLength: browsers count differently from JSON Schema, and cut pasted text silently.
const KINDS: Readonly<Record<Kind, KindOfField>> = {
  text: {
    Shown: ({ property, ...field }) => (
      <Field {...field} {...TEXT} minLength={property.minLength} {...browserPattern(property)} />
    ),
    read: (text) => text,
    write: written,
  },
  secret: {
    Shown: ({ property: _, value: __, ...field }) => <Field {...field} {...TEXT} type="password" />,
    read: (text) => text,
    write: () => '',
  },
  time: { Shown: ({ property: _, ...field }) => <TimeField {...field} />, read: utcOf, write: written },
  integer: {
    Shown: ({ property: _, ...field }) => <Field {...field} autocomplete="off" inputmode="numeric" />,
    read: readNumber,
    write: written,
  },
  number: {
    Shown: ({ property: _, ...field }) => <Field {...field} autocomplete="off" inputmode="decimal" />,
    read: readNumber,
    write: written,
  },
  boolean: {
    Shown: ({ property: _, required: __, value, ...field }) => (
      <Checkbox {...field} value="true" isTicked={value === 'true'} />
    ),
    read: (text) => text !== '',
    write: (value) => (value === true ? 'true' : ''),
  },
  choice: {
    Shown: ({ property, required, label, ...field }) => (
      <Select
        {...field}
        label={required ? label : `${label} (optional)`}
        options={[
          ['', required ? 'Choose one' : 'Not given'],
          ...choicesOf(property)!.map((choice) => [written(choice), written(choice)] as const),
        ]}
      />
    ),
    read: (text, property) => choicesOf(property)!.find((choice) => written(choice) === text) ?? text,
    write: written,
  },
  lines: {
    Shown: (field) => <Lines {...field} hint="One on each line." />,
    read: linesOf,
    write: (value) => (value as readonly string[]).join('\n'),
  },
  json: {
    Shown: (field) => <Lines {...field} hint="Written as JSON." />,
    read: (text) => {
      const value = jsonIn(text)
      return value === undefined ? text : value
    },
    write: (value) => JSON.stringify(value, null, 2),
  },
}

function Lines({ property: _, help, hint, ...field }: ShownProps & { hint: string }) {
  const both = (
    <>
      {help} {hint}
    </>
  )
  return <Field {...field} multiline spellcheck={false} help={help ? both : hint} />
}

function readNumber(text: string): JsonValue {
  const trimmed = text.trim()
  if (!/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) return text
  const number = Number(trimmed)
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
  return isExact ? number : text
}

// Matches patterns of letters, digits, ranges and counts that are anchored at both ends. Browsers read patterns by other rules: they may read any
// other pattern differently.
const SAME_IN_BROWSERS = /^\^((?:(?:\w|\[(?:[A-Za-z0-9]-[A-Za-z0-9]|\w)+\])(?:[+*?]|\{\d+(?:,\d*)?\})?)+)\$$/

function browserPattern(property: Property): { readonly pattern?: string; readonly title?: string } {
  const pattern = property.pattern === undefined ? undefined : SAME_IN_BROWSERS.exec(property.pattern)?.[1]
  return pattern === undefined ? {} : { pattern, title: formInWords({ ...property }).replaceAll('`', '') }
}

/** Words for people, in place of validation's messages for programs. */
const IN_WORDS: Readonly<Record<string, (ctx: Readonly<Record<string, unknown>>) => string>> = {
  missing: () => 'This is required.',
  int_type: () => 'Enter a whole number, such as 3.',
  int_from_float: () => 'Enter a whole number, such as 3.',
  float_type: () => 'Enter a number, such as 0.5.',
  greater_than_equal: ({ ge }) => `Enter ${ge} or more.`,
  less_than_equal: ({ le }) => `Enter ${le} or less.`,
  string_too_short: ({ min_length }) => `Enter at least ${counted(min_length, 'character')}.`,
  string_too_long: ({ max_length }) => `Enter at most ${counted(max_length, 'character')}.`,
  too_short: ({ min_length }) => `Enter at least ${counted(min_length, 'item')}.`,
  too_long: ({ max_length }) => `Enter at most ${counted(max_length, 'item')}.`,
  literal_error: () => 'Choose one of the options.',
  dict_type: () => 'Enter a JSON object, such as {"name": "value"}.',
  list_type: () => 'Enter a JSON array, such as ["one", "two"].',
}

function inWords({ type, msg, ctx = {} }: Issue): string {
  return IN_WORDS[type]?.(ctx) ?? sentence(msg)
}
