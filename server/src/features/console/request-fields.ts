/** The fields of a form and of an address, as texts. */
import type { FastifyRequest } from 'fastify'

export type Fields = Readonly<Record<string, string | undefined>>

/** Reads the fields of a form. The last value of a repeated name counts. */
export function formOf(request: FastifyRequest): Fields {
  return lastOf(request.body)
}

/** Reads the fields of an address' query. The last value of a repeated name counts. */
export function queryOf(request: FastifyRequest): Fields {
  return lastOf(request.query)
}

/** Lists every value that a form gives to a name, such as that of boxes which belong together. */
export function listOf(request: FastifyRequest, name: string): readonly string[] {
  const given = (request.body as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  return [given].flat().filter((value) => typeof value === 'string')
}

/** Lists the lines of a text that are not empty. Browsers end lines with CR LF. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function lastOf(values: unknown): Fields {
  const entries = Object.entries(values ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.at(-1) : value,
  ])
  // JSON bodies may hold values that are no texts.
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
}
