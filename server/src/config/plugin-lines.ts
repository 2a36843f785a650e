/** Changes the list of plugins in the text of a configuration file, and leaves the rest of the text as its author wrote it. */

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { syncFolder } from '../base/files.ts'

interface Entry {
  readonly use: string
}

/** The content of a configuration file, as far as its plugins are changed. */
type File = Readonly<Record<string, unknown>> & { readonly plugins?: readonly Entry[] }

/** A part of a text. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Adds a plugin at the end of the list. @param text valid JSON with an object */
export function withPlugin(text: string, entry: Entry): string {
  const file = JSON.parse(text) as File
  return agreed(
    insert(
      text,
      JSON.stringify(entry)
        .replace(/^\{(.*)\}$/, '{ $1 }')
        .replace('":', '": '),
    ),
    {
      ...file,
      plugins: [...(file.plugins ?? []), entry],
    },
  )
}

/** Removes the first entry of a plugin from the list. */
export function withoutPlugin(text: string, name: string): string {
  const file = JSON.parse(text) as File
  const index = (file.plugins ?? []).findIndex(({ use }) => use === name)
  if (index < 0) return text
  return agreed(cut(text, index), { ...file, plugins: file.plugins!.filter((_, at) => at !== index) })
}

/** Returns the changed text, or the wanted content in a form of its own if the text came to mean something else. */
function agreed(text: string, wanted: File): string {
  try {
    if (isDeepStrictEqual(JSON.parse(text), wanted)) return text
  } catch {
    // The text is no JSON any more.
  }
  return `${JSON.stringify(wanted, undefined, 2)}\n`
}

function insert(text: string, written: string): string {
  const members = childrenAt(text, text.indexOf('{'))
  const list = members.find((member) => /^"plugins"\s*:/.test(text.slice(member.start, member.end)))
  if (list === undefined) {
    const open = text.indexOf('{') + 1
    const before = members[0] === undefined ? '\n  ' : text.slice(open, members[0].start)
    return `${text.slice(0, open)}${before}"plugins": [${written}]${members[0] ? ',' : '\n'}${text.slice(open)}`
  }
  const open = text.indexOf('[', list.start)
  const entries = childrenAt(text, open)
  const last = entries.at(-1)
  if (last === undefined) return `${text.slice(0, open + 1)}${written}${text.slice(list.end - 1)}`
  // A list in lines gets another line, indented as its last entry.
  const [indent = ' '] = /\n[ \t]*$/.exec(text.slice(open + 1, last.start)) ?? []
  return `${text.slice(0, last.end)},${indent}${written}${text.slice(last.end)}`
}

function cut(text: string, index: number): string {
  const members = childrenAt(text, text.indexOf('{'))
  const list = members.find((member) => /^"plugins"\s*:/.test(text.slice(member.start, member.end)))
  if (list === undefined) return text
  const entries = childrenAt(text, text.indexOf('[', list.start))
  const { start, end } = entries[index]!
  const [before, after] = [entries[index - 1], entries[index + 1]]
  if (before) return text.slice(0, before.end) + text.slice(end)
  return text.slice(0, start) + text.slice(after ? after.start : end)
}

const STEPS: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }

/** Finds the members of an object, or the items of an array, which opens at this place of the text. */
function childrenAt(text: string, open: number): readonly Span[] {
  const found: Span[] = []
  const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g
  tokens.lastIndex = open + 1
  let depth = 0
  let child: Span | undefined
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const next = depth + (STEPS[token] ?? 0)
    const isEnd = next < 0
    if (isEnd || (depth === 0 && token === ',')) {
      if (child) found.push(child)
      child = undefined
    } else child = { start: child?.start ?? index, end: index + token.length }
    if (isEnd) break
    depth = next
  }
  return found
}

/**
 * Gives a file of the operator's another content, with the same mode and owner: after a crash it is the old one or the new one, whole.
 * @throws Error of the file system
 */
export function replaceContent(path: string, content: string): void {
  // A link to the file stays one.
  const file = realpathSync(path)
  const { mode, uid, gid } = statSync(file)
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(handle, content)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    const made = statSync(draft)
    if (made.uid !== uid || made.gid !== gid) chownSync(draft, uid, gid)
    chmodSync(draft, mode & 0o7777)
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(file))
}
