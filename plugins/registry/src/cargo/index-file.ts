/** Reads the file of one crate in a sparse index of Cargo's: a line of JSON for each version, line by line as it arrives. */
import { DestinationError, type Static, Type, Value } from '@claimcheck/core/plugin'
import { bodyOf } from '../reader.ts'

const IndexEntry = Type.Object({
  name: Type.String(),
  vers: Type.String({ maxLength: 200 }),
  cksum: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  yanked: Type.Boolean(),
  pubtime: Type.Optional(Type.String()),
})
export type IndexEntry = Static<typeof IndexEntry>

export const Config = Type.Object({ dl: Type.String() })

/** A line names a version's dependencies and features. In characters. */
const MAX_LINE = 512 * 1024

/** Below the index: `1/a`, `2/ab`, `3/a/abc`, `ab/cd/abcd`. @param name in lower case */
export function indexPath(name: string): string {
  if (name.length <= 2) return `${name.length}/${name}`
  if (name.length === 3) return `3/${name[0]}/${name}`
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
}

/**
 * Every line is read, so that a file that breaks off is not taken for one without the version.
 * @throws DestinationError `too_large`; SyntaxError, TypeError for what is no such file
 */
export async function readIndexFile(response: Response, name: string): Promise<IndexEntry[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const entries: IndexEntry[] = []
  let rest = ''
  const take = (line: string) => {
    if (line.trim() !== '') entries.push(readLine(line, name))
  }
  for await (const part of bodyOf(response)) {
    // What is held of a line is not looked through again: a line may come byte by byte.
    const [more = '', ...others] = decoder.decode(part, { stream: true }).split('\n')
    rest += more
    for (const line of others) {
      take(rest)
      rest = line
    }
    if (rest.length > MAX_LINE) throw new DestinationError('too_large', { status: response.status })
  }
  take(rest + decoder.decode())
  if (entries.length === 0) throw new SyntaxError('the index file is empty')
  return entries
}

function readLine(line: string, name: string): IndexEntry {
  const entry = parse(line)
  if (!Value.Check(IndexEntry, entry)) throw new TypeError('a line of the index has another form')
  if (entry.name.toLowerCase() !== name) throw new TypeError('the index file is of another crate')
  const { vers, cksum, yanked, pubtime } = entry
  return { name, vers, cksum, yanked, ...(pubtime !== undefined && { pubtime }) }
}

/** The parser's own error repeats a part of the text, which may repeat a credential. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new SyntaxError('a line of the index is no JSON')
  }
}
