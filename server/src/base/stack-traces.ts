/** Stack traces of a bundled program: they name the places in the modules that it was made of. */
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

const PLACE = /(file:[^()]+\.js):(\d+):(\d+)/

/** Node's own `--enable-source-maps` reads every map at the start; here a map is read when the first trace through its file is shown. */
export function nameSources(folder: URL): void {
  const maps = new Map<string, SourceMap | undefined>()

  function mapOf(file: string): SourceMap | undefined {
    if (!maps.has(file)) maps.set(file, file.startsWith(folder.href) ? readMap(file) : undefined)
    return maps.get(file)
  }

  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.map((frame) =>
      String(frame).replace(PLACE, (place, file: string, line: string, column: string) => {
        const origin = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
        if (origin === undefined || !('originalSource' in origin)) return place
        return `${new URL(origin.originalSource, file).href}:${origin.originalLine + 1}:${origin.originalColumn + 1}`
      }),
    )
    return [describe(error), ...lines].join('\n    at ')
  }
}

function describe(error: Error): string {
  try {
    return String(error)
  } catch {
    // Something was thrown that is no error, and has no text.
    return 'Error'
  }
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), 'utf8')))
  } catch {
    return undefined
  }
}
