/** Reads the stored record of a check, and checks its form. */
import { Type } from '@claimcheck/core/plugin'
import { type CheckRecord, FAILURE_CODES, jsonIn, MARKS } from '@claimcheck/core/rules'
import { validator } from '../../../base/validation.ts'

const ALONE = { additionalProperties: false } as const
const text = Type.String()
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const LogTime = Type.Object({ notBefore: Type.Optional(count), notAfter: count }, ALONE)
const Stay = Type.Object(
  { appeared: LogTime, removed: Type.Optional(LogTime), removedWhole: Type.Optional(Type.Boolean()) },
  ALONE,
)
const seen = {
  facts: Type.Object({}),
  mark: Type.Optional(Type.Enum(MARKS)),
  stays: Type.Optional(Type.Array(Stay)),
}
const Observation = Type.Union([
  Type.Object({ kind: Type.Literal('absent'), ...seen }, ALONE),
  Type.Object({ kind: Type.Literal('present'), ...seen, differs: Type.Array(text) }, ALONE),
])
const place = { provider: text, listed: Type.Boolean() }
const Source = Type.Union([
  Type.Object({ ...place, baseUrl: text }, ALONE),
  Type.Object({ ...place, sourceId: text }, ALONE),
])
const Failure = Type.Object(
  {
    code: Type.Enum(FAILURE_CODES),
    retryAt: Type.Optional(count),
    status: Type.Optional(count),
    connectionRemoved: Type.Optional(Type.Literal(true)),
    endedProcess: Type.Optional(Type.Literal(true)),
  },
  ALONE,
)
const Plugin = Type.Object({ package: text, version: Type.Optional(text), codeHash: Type.Optional(text) }, ALONE)
const made = {
  sentAt: count,
  answeredAt: count,
  plugin: Type.Optional(Plugin),
  hinted: Type.Optional(Type.Literal(true)),
}
const Record = Type.Union([
  Type.Object({ ...made, failure: Failure }, ALONE),
  Type.Object(
    {
      ...made,
      observation: Observation,
      clockOffsetMs: Type.Number(),
      dated: Type.Optional(Type.Boolean()),
      clockAheadMs: Type.Optional(Type.Number()),
      clockSetMs: Type.Optional(count),
      ageMs: Type.Optional(count),
      answers: Type.Optional(count),
      source: Type.Optional(Source),
    },
    ALONE,
  ),
])

/** Undefined when the text is not a valid record. */
export function readRecord(text: string): CheckRecord | undefined {
  const record = jsonIn(text)
  if (validator(Record)(record, []).length > 0 || JSON.stringify(record) !== text) return undefined
  const { sentAt, answeredAt } = record as unknown as CheckRecord
  return sentAt <= answeredAt ? (record as unknown as CheckRecord) : undefined
}
