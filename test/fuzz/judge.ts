/** What is wrong with an answer, whatever was asked. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { textOf } from '../support/visitor.ts'
import type { OpenApi } from './api.ts'
import type { FuzzAnswer, FuzzRequest } from './request.ts'
import { MARK, MARK_HEADER } from './values.ts'

export type Judge = (request: FuzzRequest, answer: FuzzAnswer) => readonly string[]

interface JudgeOptions {
  readonly openApi: OpenApi
  /** Of the service. */
  readonly url: string
  /** The origins beside ours to which somebody may be led: those of applications that are known. */
  readonly mayLeadTo: readonly string[]
}

/** What an operation may answer without saying so, because HTTP itself has it so. */
const OF_HTTP: ReadonlySet<number> = new Set([404, 405, 413, 415, 417, 431])
const IS_API = /^\/(?:v1\/|healthz|readyz|openapi\.json|\.well-known\/poaw)/
const COOKIES = /^(?:__Host-)?claimcheck(?:[-_][\w.-]+)?=/

/** The description, in which objects with named members have no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]))
  return copy.type === 'object' && copy.properties ? { additionalProperties: false, ...copy } : copy
}

export function createJudge({ openApi, url, mayLeadTo }: JudgeOptions): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addSchema(closed(openApi) as object, 'api')
  const operations = Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({
      method,
      path,
      pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]*')}$`),
    })),
  )

  /** The schema of the answer, `undefined` where the description has none of this status. */
  function schemaOf({ method, path }: (typeof operations)[number], status: number) {
    const response = openApi.paths[path]?.[method]?.responses?.[status]
    const place = response?.$ref?.split('/').slice(1) ?? ['paths', path, method, 'responses', String(status)]
    const pointer = [...place, 'content', 'application/json', 'schema']
    return ajv.getSchema(
      `api#/${pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`,
    )
  }

  function* problemsOfApi(request: FuzzRequest, { status, headers, body }: FuzzAnswer) {
    const isJson = /^application\/json/.test(headers['content-type'] ?? '')
    const text = body.toString('utf8')
    if (request.method !== 'HEAD' && status >= 400 && status !== 503 && !(isJson && isErrorForm(status, text)))
      yield `the body of a ${status} has not the form of an error: ${text.slice(0, 200)}`
    const pathname = request.path.split('?')[0]!
    const operation = operations.find(
      ({ method, pattern }) => method === request.method.toLowerCase() && pattern.test(pathname),
    )
    if (!operation || status === 303 || !isJson) return
    const check = schemaOf(operation, status)
    if (!check) {
      // What is no HTTP is answered by the parser, whose words these are.
      if (!OF_HTTP.has(status) && text !== '{"detail":"bad request"}')
        yield `${operation.method} ${operation.path} does not describe the status ${status}`
    } else if (!check(JSON.parse(text))) yield `the answer is not as described: ${ajv.errorsText(check.errors)}`
  }

  function* problemsOf(request: FuzzRequest, answer: FuzzAnswer) {
    const { status, headers, body } = answer
    const text = body.toString('utf8')
    if (status >= 500) yield `${status}: ${textOf(text).slice(0, 300)}`
    const type = headers['content-type'] ?? ''
    if (headers[MARK_HEADER] !== undefined) yield 'a text became a header'
    if (type.startsWith('text/html')) {
      if (text.includes(MARK)) yield 'a page repeats markup'
      if (!headers['content-security-policy']?.includes("default-src 'none'")) yield 'a page has no policy'
    }
    if (/\bat [^\n]{1,100}\.[jt]sx?:\d+:\d+/.test(text)) yield 'the answer shows where in the program it comes from'
    for (const cookie of headers['set-cookie'] ?? []) {
      if (!COOKIES.test(cookie)) yield `a cookie that is not ours: ${cookie}`
      else if (!/; *httponly/i.test(cookie)) yield `scripts may read a cookie: ${cookie}`
    }
    if (headers.location !== undefined && !isAllowed(headers.location)) yield `it leads to ${headers.location}`
    if (IS_API.test(request.path)) yield* problemsOfApi(request, answer)
  }

  function isAllowed(location: string): boolean {
    const target = URL.canParse(location, url) ? new URL(location, url) : undefined
    if (!target) return false
    // A tunnel may have any port.
    if (target.protocol === 'http:' && target.hostname === 'localhost') return true
    return mayLeadTo.some((one) => target.href.startsWith(one))
  }

  return (request, answer) => [...problemsOf(request, answer)]
}

function isErrorForm(status: number, text: string): boolean {
  let value: { readonly detail?: unknown }
  try {
    value = JSON.parse(text)
  } catch {
    return false
  }
  const { detail } = value
  if (status !== 422) return typeof detail === 'string' && detail !== ''
  return (
    Array.isArray(detail) &&
    detail.length > 0 &&
    detail.every(({ loc, msg, type }) => Array.isArray(loc) && typeof msg === 'string' && typeof type === 'string')
  )
}
