/** Reads the stored record of a check, and checks its form. */
import {
  type CheckRecord,
  FAILURE_CODES,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MARKS,
} from '@claimcheck/core/rules'
import { parseJson } from '../../../base/parse-json.ts'

const KNOWN_CODES: ReadonlySet<unknown> = new Set(FAILURE_CODES)

/** Undefined when the text is not a valid record. */
export function readRecord(text: string): CheckRecord | undefined {
  const record = parseJson(text)
  if (record === undefined || !isJsonObject(record) || JSON.stringify(record) !== text) return undefined
  const { sentAt, answeredAt, plugin, observation, failure, clockOffsetMs, dated, ageMs, source, ...more } = record
  const inOrder = isCount(sentAt) && isCount(answeredAt) && sentAt <= answeredAt && Object.keys(more).length === 0
  if (!inOrder || !isOptional(plugin, isPluginName)) return undefined
  const isRecord =
    failure === undefined
      ? isJsonObject(observation ?? null) &&
        isObservation(observation as JsonObject) &&
        typeof clockOffsetMs === 'number' &&
        isOptional(dated, isBoolean) &&
        isOptional(ageMs, isCount) &&
        isOptional(source, isSource)
      : isJsonObject(failure) &&
        isFailure(failure) &&
        [observation, clockOffsetMs, dated, ageMs, source].every((one) => one === undefined)
  return isRecord ? (record as unknown as CheckRecord) : undefined
}

function isObservation({ kind, facts, mark, stays, differs, ...more }: JsonObject): boolean {
  if (Object.keys(more).length > 0 || !isJsonObject(facts ?? null)) return false
  if (!isOptional(mark, isMark) || !isOptional(stays, isStays)) return false
  if (kind === 'absent') return differs === undefined
  return kind === 'present' && isTexts(differs)
}

function isMark(value: JsonValue): boolean {
  return MARKS.some((mark) => mark === value)
}

function isStays(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isStay)
}

function isStay(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { appeared, removed, removedWhole, ...more } = value
  return (
    appeared !== undefined &&
    isLogTime(appeared) &&
    isOptional(removed, isLogTime) &&
    isOptional(removedWhole, isBoolean) &&
    Object.keys(more).length === 0
  )
}

function isSource(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { provider, listed, baseUrl, sourceId, ...more } = value
  const where = baseUrl === undefined ? sourceId : baseUrl
  const isOne = (baseUrl === undefined) !== (sourceId === undefined) && typeof where === 'string'
  return typeof provider === 'string' && typeof listed === 'boolean' && isOne && Object.keys(more).length === 0
}

function isPluginName(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { package: name, version, codeHash, ...more } = value
  return typeof name === 'string' && [version, codeHash].every(isOptionalText) && Object.keys(more).length === 0
}

function isOptionalText(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'string'
}

function isLogTime(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { notBefore, notAfter, ...more } = value
  return isCount(notAfter) && isOptional(notBefore, isCount) && Object.keys(more).length === 0
}

function isFailure({ code, retryAt, status, endedProcess, ...more }: JsonObject): boolean {
  const isKnown = KNOWN_CODES.has(code) && Object.keys(more).length === 0
  return (
    isKnown &&
    isOptional(retryAt, isCount) &&
    isOptional(status, Number.isSafeInteger) &&
    isOptional(endedProcess, (ended) => ended === true)
  )
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
