/** Fields made from a JSON schema, and what a form with such fields says: no plugin needs a page of its own. */
import { isSecret, type JsonObject, type JsonValue } from '@claimcheck/core'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import type { Issue, Loc } from '../../base/errors.ts'
import { Prose } from '../words.tsx'
import { Field, FieldNotes, notesOf, Select } from './form.tsx'
import {
  choicesOf,
  isRequired,
  type Kind,
  kindOf,
  labelOf,
  type Property,
  propertiesOf,
  written,
} from './schema-properties.ts'

/** A form's fields by name, each once. */
export type FormValues = Readonly<Record<string, string | undefined>>

interface SchemaFieldsProps {
  /** Of an object: each of its properties is a field. */
  readonly schema: TSchema
  /** By the fields' names. Of secrets nothing is shown. */
  readonly values: FormValues
  /** By the fields' names, as `problemsByField` makes them. */
  readonly problems: Readonly<Record<string, string>>
  /** Before the name of each property, so that the page's own fields keep theirs. */
  readonly prefix: string
}

export function SchemaFields({ schema, values, problems, prefix }: SchemaFieldsProps) {
  return (
    <>
      {propertiesOf(schema).map(([key, property]) => {
        const name = prefix + key
        const Shown = FIELDS[kindOf(property)]
        return (
          <Shown
            name={name}
            label={labelOf(property, key)}
            help={property.description && <Prose text={property.description} />}
            problem={problems[name]}
            required={isRequired(schema, key)}
            value={values[name]}
            property={property}
          />
        )
      })}
    </>
  )
}

/** What such a form shows at first: the schema's own defaults. */
export function startingValues(schema: TSchema, prefix: string): FormValues {
  const given = propertiesOf(schema).filter(([, property]) => property.default !== undefined && !isSecret(property))
  return Object.fromEntries(
    given.map(([key, property]) => [prefix + key, WRITTEN[kindOf(property)](property.default as JsonValue)]),
  )
}

/**
 * What the form says, to be held against the schema. A field that is left empty is not given; what is no number, or no
 * JSON where that is asked for, stays the text that it is, for validation to refuse.
 */
export function readSchemaForm(schema: TSchema, form: FormValues, prefix: string): JsonObject {
  const entries = propertiesOf(schema).map(([key, property]): [string, JsonValue | undefined] => {
    const text = form[prefix + key] ?? ''
    const kind = kindOf(property)
    if (kind !== 'boolean') return [key, text.trim() === '' ? undefined : READ[kind](text, property)]
    // A box that is not ticked is not sent: where there is a choice, that is no answer.
    const isTold = text !== '' || isRequired(schema, key) || property.default === true
    return [key, isTold ? text !== '' : undefined]
  })
  return Object.fromEntries(entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined))
}

/**
 * What is wrong, by the names of the fields; what concerns no single field stands under the empty name.
 * @param under where the object stands that the form was read into
 */
export function problemsByField(
  issues: readonly Issue[],
  under: Loc,
  prefix: string,
): Readonly<Record<string, string>> {
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

interface ShownProps {
  readonly name: string
  readonly label: string
  readonly help: ComponentChildren
  readonly problem: string | undefined
  readonly required: boolean
  readonly value: string | undefined
  readonly property: Property
}

// No maxLength: browsers count otherwise than JSON Schema, and cut off what is pasted without a word.
const FIELDS: Readonly<Record<Kind, (props: ShownProps) => ComponentChildren>> = {
  text: ({ property, ...field }) => (
    <Field
      {...field}
      autocomplete="off"
      spellcheck={false}
      minLength={property.minLength}
      pattern={browserPattern(property.pattern)}
    />
  ),
  secret: ({ property: _, value: __, ...field }) => (
    <Field {...field} type="password" autocomplete="off" spellcheck={false} />
  ),
  integer: ({ property: _, ...field }) => <Field {...field} autocomplete="off" inputmode="numeric" />,
  number: ({ property: _, ...field }) => <Field {...field} autocomplete="off" inputmode="decimal" />,
  boolean: Checkbox,
  choice: ({ property, required, label, ...field }) => (
    <Select
      {...field}
      label={required ? label : `${label} (optional)`}
      options={[
        ['', required ? 'Choose one' : 'Not given'],
        ...choicesOf(property)!.map((choice) => [written(choice), written(choice)] as const),
      ]}
    />
  ),
  lines: ({ property: _, help, ...field }) => (
    <Field {...field} multiline spellcheck={false} help={withHint(help, 'One on each line.')} />
  ),
  json: ({ property: _, help, ...field }) => (
    <Field {...field} multiline spellcheck={false} help={withHint(help, 'Written as JSON.')} />
  ),
}

function Checkbox({ name, label, help, problem, value }: ShownProps) {
  return (
    <div class="field">
      <div class="choice">
        <input
          type="checkbox"
          id={name}
          name={name}
          value="true"
          checked={value === 'true'}
          {...notesOf({ name, help, problem })}
        />
        <label for={name}>{label}</label>
      </div>
      <FieldNotes name={name} help={help} problem={problem} />
    </div>
  )
}

function withHint(help: ComponentChildren, hint: string) {
  return help ? (
    <>
      {help} {hint}
    </>
  ) : (
    hint
  )
}

const READ: Readonly<Record<Exclude<Kind, 'boolean'>, (text: string, property: Property) => JsonValue>> = {
  text: (text) => text,
  secret: (text) => text,
  integer: readNumber,
  number: readNumber,
  choice: (text, property) => choicesOf(property)!.find((choice) => written(choice) === text) ?? text,
  // What browsers send ends its lines with both characters.
  lines: (text) =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter(Boolean),
  json: (text) => {
    try {
      return JSON.parse(text) as JsonValue
    } catch {
      return text
    }
  },
}

const WRITTEN: Readonly<Record<Kind, (value: JsonValue) => string>> = {
  text: written,
  secret: () => '',
  integer: written,
  number: written,
  boolean: (value) => (value === true ? 'true' : ''),
  choice: written,
  lines: (value) => (value as readonly string[]).join('\n'),
  json: (value) => JSON.stringify(value, null, 2),
}

function readNumber(text: string): JsonValue {
  const trimmed = text.trim()
  if (!/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) return text
  const number = Number(trimmed)
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
  return isExact ? number : text
}

// Letters, digits, ranges of them and counts, from end to end. Browsers anchor patterns and read them by other rules:
// of anything else it is not sure that they would let the same through.
const SAME_IN_BROWSERS = /^\^((?:(?:\w|\[(?:[A-Za-z0-9]-[A-Za-z0-9]|\w)+\])(?:[+*?]|\{\d+(?:,\d*)?\})?)+)\$$/

function browserPattern(pattern: string | undefined): string | undefined {
  return pattern === undefined ? undefined : SAME_IN_BROWSERS.exec(pattern)?.[1]
}

/** The validator speaks to programs; people are told what to give instead. */
const IN_WORDS: Readonly<Record<string, string>> = {
  missing: 'This is needed.',
  string_pattern_mismatch: 'This is not written as it has to be.',
  int_type: 'This has to be a whole number.',
  int_from_float: 'This has to be a whole number.',
  float_type: 'This has to be a number.',
  literal_error: 'This is none of the choices.',
  dict_type: 'This has to be a JSON object.',
  list_type: 'This has to be a JSON array.',
}

function inWords({ type, msg }: Issue): string {
  return IN_WORDS[type] ?? `${msg}.`
}
