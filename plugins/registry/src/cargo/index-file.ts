/** Reads the file of one crate in a sparse index of Cargo's: a line of JSON for each version, line by line as it arrives. */
import { type Static, Type, Value } from '@claimcheck/core/plugin'
import { bodyOf } from '../reader.ts'

/** The members that every version of the format has so far. A newer one may have more, and other forms of the rest. */
const IndexEntry = Type.Object({
  name: Type.String(),
  vers: Type.String({ maxLength: 200 }),
  cksum: Type.Optional(Type.Unknown()),
  yanked: Type.Optional(Type.Unknown()),
  pubtime: Type.Optional(Type.Unknown()),
})
export type IndexEntry = Static<typeof IndexEntry>

export interface IndexFile {
  readonly entries: readonly IndexEntry[]
  /** Tells that every line could be read: what is not among the entries is not in the index. */
  readonly isWhole: boolean
}

export const Config = Type.Object({ dl: Type.String() })

/** The longest line, in characters: it names a version's dependencies and features. */
const MAX_LINE = 512 * 1024

/** The path of a crate below the index: `1/a`, `2/ab`, `3/a/abc`, `ab/cd/abcd`. @param name in lower case */
export function indexPath(name: string): string {
  if (name.length <= 2) return `${name.length}/${name}`
  if (name.length === 3) return `3/${name[0]}/${name}`
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
}

/** Lists other names that crates.io takes for the same, and which no other crate there can get: `serde-json`, `serde_json`. At most 32. */
export function spellingsOf(name: string): { readonly names: readonly string[]; readonly areAll: boolean } {
  const parts = name.split(/[-_]/)
  const areAll = parts.length <= MOST_PARTS
  const joined = (head: readonly string[], part: string) =>
    ['_', '-'].flatMap((by) => head.map((one) => one + by + part))
  const names = areAll ? parts.slice(1).reduce(joined, parts.slice(0, 1)) : ['_', '-'].map((by) => parts.join(by))
  return { names: names.filter((one) => one !== name), areAll }
}

const MOST_PARTS = 6

/**
 * Reads a crate's file, and passes over lines that cannot be read. A file that breaks off is so not taken for one without the version.
 * @throws SyntaxError, TypeError for what is no such file
 */
export async function readIndexFile(response: Response, name: string): Promise<IndexFile> {
  const decoder = new TextDecoder('utf-8')
  const entries: IndexEntry[] = []
  let isWhole = true
  let rest = ''
  let isTooLong = false
  const take = (line: string) => {
    const entry = isTooLong ? undefined : readLine(line, name)
    if (entry) entries.push(entry)
    else if (isTooLong || line.trim() !== '') isWhole = false
    isTooLong = false
  }
  for await (const part of bodyOf(response)) {
    // The search for the end of a line looks at new text only, because a line may come byte by byte.
    const [more = '', ...others] = decoder.decode(part, { stream: true }).split('\n')
    rest += more
    for (const line of others) {
      take(rest)
      rest = line
    }
    isTooLong ||= rest.length > MAX_LINE
    if (isTooLong) rest = ''
  }
  take(rest + decoder.decode())
  if (entries.length === 0) throw new SyntaxError('the index file has no line that can be read')
  return { entries, isWhole }
}

/** Reads a line of an index; undefined for any other text. */
function readLine(line: string, name: string): IndexEntry | undefined {
  const entry = parse(line)
  if (!Value.Check(IndexEntry, entry)) return undefined
  if (entry.name.toLowerCase() !== name) throw new TypeError('the index file is of another crate')
  const { vers, cksum, yanked, pubtime } = entry
  return { name, vers, cksum, yanked, pubtime }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
