/** A field for a moment in UTC. A browser's field for local times has no zone, and so needs no script. */
import { formatInstant } from '@claimcheck/core/rules'
import { readTimestamp } from '../../../base/timestamp.ts'
import { Field, type FieldProps } from './form.tsx'

type TimeFieldProps = Pick<FieldProps, 'name' | 'label' | 'value' | 'help' | 'problem' | 'required'>

export function TimeField({ label, value, ...field }: TimeFieldProps) {
  return (
    <Field
      {...field}
      label={`${label} (UTC)`}
      value={chosen(value)}
      type="datetime-local"
      step={1}
      autocomplete="off"
    />
  )
}

/** Matches a chosen time. Browsers leave out seconds that are zero. */
const CHOSEN = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/

/** Makes a timestamp of a chosen time. Any other text stays as it is, for validation to refuse. */
export function utcOf(text: string): string {
  const [, minute, seconds = ':00'] = CHOSEN.exec(text.trim()) ?? []
  return minute === undefined ? text : `${minute.replace(' ', 'T')}${seconds}Z`
}

/** Writes a timestamp as the field shows it: browsers leave a field empty for a value with a zone, or with a fraction finer than its step. */
function chosen(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const instant = readTimestamp(utcOf(text))
  return typeof instant === 'number' ? formatInstant(instant).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length) : text
}
