/** Requests to every operation of the OpenAPI document that the service serves. */
import type { Random } from '../crash/random.ts'
import {
  changedHeaders,
  changedJson,
  changedMethod,
  changedPairs,
  changedPath,
  changedType,
  type Json,
  type Pairs,
  queryText,
} from './change.ts'
import type { FuzzRequest } from './request.ts'
import { escaped, nastyText } from './values.ts'

export interface Operation {
  readonly method: string
  /** `/v1/claims/{claim_id}` */
  readonly path: string
  readonly operationId: string
  readonly query: readonly QueryParameter[]
  readonly hasBody: boolean
}

interface QueryParameter {
  readonly name: string
  readonly schema: { readonly type?: string; readonly enum?: readonly unknown[]; readonly default?: unknown }
}

interface DescribedOperation {
  readonly operationId: string
  readonly parameters?: readonly (QueryParameter & { readonly in: string })[]
  readonly requestBody?: unknown
  readonly responses?: Readonly<Record<string, { readonly $ref?: string; readonly content?: unknown }>>
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
}

/** What is there to be named. */
export interface ApiValues {
  /** Of each parameter in a path. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** Of each operation that takes a body. */
  readonly bodies: Readonly<Record<string, readonly Json[]>>
  readonly credentials: readonly string[]
}

/** @throws Error for a parameter in a path, or a body, of which `values` has none */
export function operationsOf({ paths }: OpenApi, values: ApiValues): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, parameters = [], requestBody }]) => {
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
        if (!values.ids[name!]) throw new Error(`the fuzz run has no value for ${name} of ${path}`)
      }
      const hasBody = requestBody !== undefined
      if (hasBody && !values.bodies[operationId]) throw new Error(`the fuzz run has no body for ${operationId}`)
      const query = parameters.filter((parameter) => parameter.in === 'query')
      return { method: method.toUpperCase(), path, operationId, query, hasBody }
    }),
  )
}

export function apiRequest(operations: readonly Operation[], values: ApiValues, random: Random): FuzzRequest {
  const writing = operations.filter(({ hasBody }) => hasBody)
  const { method, path, operationId, query, hasBody } = random.pick(random.chance(0.3) ? writing : operations)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    random.chance(0.6) ? random.pick(values.ids[name]!) : escaped(nastyText(random), random),
  )
  const given: Pairs = query
    .filter(() => random.chance(0.5))
    .map(({ name, schema }) => [name, soundValue(schema, random)])
  const wholePath = changedPath(filled + queryText(changedPairs(given, random), random), random)
  const headers = {
    ...(random.chance(0.95) ? { authorization: `Bearer ${random.pick(values.credentials)}` } : {}),
    ...(hasBody ? { 'content-type': changedType('application/json', random) } : {}),
  }
  const body = hasBody ? jsonBody(values.bodies[operationId]!, random) : undefined
  return {
    method: changedMethod(method, random),
    path: wholePath,
    headers: changedHeaders(headers, random),
    ...(body ? { body } : {}),
  }
}

function soundValue({ type, enum: choices, default: given }: QueryParameter['schema'], random: Random): string {
  if (choices) return String(random.pick(choices))
  if (given !== undefined && random.chance(0.5)) return String(given)
  return type === 'integer' ? String(random.below(4)) : 'x'
}

function jsonBody(examples: readonly Json[], random: Random): Buffer {
  const text = changedJson(random.pick(examples), random)
  const bytes = Buffer.from(text, 'utf8')
  const way = random.below(40)
  if (way === 0) return Buffer.from(text, 'utf16le')
  if (way === 1) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
  if (way === 2 && bytes.length > 0) bytes[random.below(bytes.length)] = random.pick([0, 0x80, 0xc0, 0xff])
  return bytes
}
