/** Checks the structure of JSON values with small functions. A schema library would be larger than the whole checker may be. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export type Shape = (value: JsonValue | undefined) => boolean
export type Members = Readonly<Record<string, Shape>>

/** The shape of an object that may have other members, too: the receipt format allows them nearly everywhere. */
export function object(required: Members, optional: Members = {}): Shape {
  return (value) =>
    isJsonObject(value) &&
    Object.entries(required).every(([name, shape]) => has(value, name) && shape(value[name]!)) &&
    Object.entries(optional).every(([name, shape]) => !has(value, name) || shape(value[name]!))
}

/** The shape of an object that has no other members. */
export function closedObject(required: Members, optional: Members = {}): Shape {
  const open = object(required, optional)
  return (value) =>
    open(value) && Object.keys(value as JsonObject).every((name) => has(required, name) || has(optional, name))
}

export function array(item: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(item)
}

/** The shape of a text whose length is limited in code points, as JSON Schema counts them. */
export function text(minLength: number, maxLength: number): Shape {
  return (value) => {
    if (typeof value !== 'string') return false
    const length = [...value].length
    return length >= minLength && length <= maxLength
  }
}

export function matching(pattern: RegExp): Shape {
  return (value) => typeof value === 'string' && pattern.test(value)
}

export function integer(minimum: number, maximum = Number.MAX_SAFE_INTEGER): Shape {
  return (value) => Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
}

export function oneOf(...values: readonly (JsonValue | undefined)[]): Shape {
  return (value) => values.includes(value)
}

export function all(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.every((shape) => shape(value))
}

export function either(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((shape) => shape(value))
}

/** The shape of an object that has none of these members. */
export function without(...names: readonly string[]): Shape {
  return (value) => isJsonObject(value) && !names.some((name) => has(value, name))
}

/** The shape of values that must have the second shape if they have the first. */
export function implies(condition: Shape, consequence: Shape): Shape {
  return (value) => !condition(value) || consequence(value)
}

function has(value: object, name: string): boolean {
  return Object.hasOwn(value, name)
}
