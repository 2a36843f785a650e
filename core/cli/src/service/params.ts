/** Reads `--param`: `name=text`, `name:=json` and `name=@file`. */
import { readFileSync } from 'node:fs'
import { badArguments } from '@claimcheck/command-line/errors'

const PARAM = /^([A-Za-z_][A-Za-z0-9_]*)(:?=)([\s\S]*)$/

/** Reads the values of `--param`. @throws CommandError `bad_arguments` for a value of another form */
export function readParams(given: readonly string[]): Readonly<Record<string, unknown>> {
  const params = new Map<string, unknown>()
  for (const text of given) {
    const [, name, sign, value] = PARAM.exec(text) ?? []
    if (name === undefined || value === undefined) {
      throw badArguments(`${JSON.stringify(text)} is no param: write name=text, name:=json or name=@file.`)
    }
    if (params.has(name)) throw badArguments(`The param ${name} is there twice.`)
    params.set(name, sign === ':=' ? fromJson(name, value) : fromText(name, value))
  }
  return Object.fromEntries(params)
}

function fromJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badArguments(`The param ${name} is not JSON: for a text write ${name}=text.`)
  }
}

/** `@@` begins a text that begins with `@`. */
function fromText(name: string, text: string): string {
  if (text.startsWith('@@')) return text.slice(1)
  if (!text.startsWith('@')) return text
  try {
    return readFileSync(text.slice(1), 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw badArguments(`The param ${name} cannot be read: ${(error as Error).message}.`)
  }
}
