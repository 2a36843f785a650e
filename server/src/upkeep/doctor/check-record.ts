/** Reads the stored record of a check, and checks its form. */
import {
  type CheckRecord,
  DESTINATION_ERROR_CODES,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@claimcheck/core'

const FAILURE_CODES: ReadonlySet<unknown> = new Set([
  ...DESTINATION_ERROR_CODES,
  'unsupported_action',
  'verifier_error',
])

/** Undefined when the text is not a valid record. */
export function readRecord(text: string): CheckRecord | undefined {
  const record = parseJson(text)
  if (record === undefined || !isJsonObject(record) || JSON.stringify(record) !== text) return undefined
  const { sentAt, answeredAt, observation, failure, clockOffsetMs, ...more } = record
  const inOrder = isCount(sentAt) && isCount(answeredAt) && sentAt <= answeredAt && Object.keys(more).length === 0
  if (!inOrder) return undefined
  const isRecord =
    failure === undefined
      ? isJsonObject(observation ?? null) &&
        isObservation(observation as JsonObject) &&
        typeof clockOffsetMs === 'number'
      : isJsonObject(failure) && isFailure(failure) && observation === undefined && clockOffsetMs === undefined
  return isRecord ? (record as unknown as CheckRecord) : undefined
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObservation({ kind, facts, settled, differs, appeared, ...more }: JsonObject): boolean {
  if (Object.keys(more).length > 0 || !isJsonObject(facts ?? null) || !isOptional(settled, isBoolean)) return false
  if (kind === 'absent') return differs === undefined && appeared === undefined
  return kind === 'present' && isTexts(differs) && isOptional(appeared, isAppearance)
}

function isAppearance(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { notBefore, notAfter, ...more } = value
  return isCount(notAfter) && isOptional(notBefore, isCount) && Object.keys(more).length === 0
}

function isFailure({ code, retryAt, status, ...more }: JsonObject): boolean {
  const isKnown = FAILURE_CODES.has(code) && Object.keys(more).length === 0
  return isKnown && isOptional(retryAt, isCount) && isOptional(status, Number.isSafeInteger)
}

function isOptional(value: JsonValue | undefined, test: (value: JsonValue) => boolean): boolean {
  return value === undefined || test(value)
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isBoolean(value: JsonValue): boolean {
  return typeof value === 'boolean'
}

function isTexts(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
