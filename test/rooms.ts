/** Who may import whom, read off the source text: the rooms of `server/src`, and no circles anywhere. */
import { posix } from 'node:path'

/** A room imports itself and the rooms before it. The files beside the rooms stand where they are named. */
export const ROOMS = [
  'base',
  'names',
  'config',
  'storage',
  'clock',
  'outbound',
  'plugins',
  'http',
  'host',
  'web',
  'features/clock',
  'features/audit-trail',
  'features/workspaces',
  'features/people',
  'features/mail',
  'features/log',
  'features/receipts',
  'features/claims',
  'features/events',
  'features/event-streams',
  'features/agent-watch',
  'features/webhooks',
  'features/hints',
  'features/revisits',
  'features/plugins',
  'features/erasure',
  'features/anchoring',
  'features/oauth',
  'features/mcp',
  'features/site',
  'features/console',
  'features/monitoring',
  'features/maintenance',
  'features/*',
  'features.ts',
  'claimcheck.ts',
  'cli',
]

/** What a feature shows outside: these may use every feature. */
const FACES: ReadonlySet<string> = new Set(['feature.ts', 'commands', 'routes'])

/** Source texts by their path below the package's `src`. */
export type Sources = Readonly<Record<string, string>>

/** Types count: `import type`, `import('./a.ts').A`, `export ... from`. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']*)'/g

/** What breaks the order of the rooms, in words; empty when nothing does. */
export function breaches(sources: Sources): string[] {
  const imports = importsIn(sources)
  const homeless = [...imports.keys()].filter((file) => rankOf(file) < 0).map((file) => `${file} is in no room`)
  const upward = [...imports].flatMap(([file, imported]) =>
    imported.filter((other) => rankOf(other) > rankOf(file)).map((other) => `${file} imports ${other}`),
  )
  return [...homeless, ...upward, ...circles(sources)]
}

function importsIn(sources: Sources): Map<string, string[]> {
  return new Map(Object.entries(sources).map(([file, text]) => [file, importsOf(file, text)]))
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, path]) => posix.join(posix.dirname(file), path!))
}

function rankOf(file: string): number {
  const [room, feature, part] = file.split('/')
  if (room !== 'features') return ROOMS.indexOf(room!)
  return ROOMS.indexOf(FACES.has(part!) ? 'features/*' : `${room}/${feature}`)
}

/** One line for each circle that a walk through the imports meets. */
export function circles(sources: Sources): string[] {
  const imports = importsIn(sources)
  const found: string[] = []
  const done = new Set<string>()
  function walk(file: string, path: readonly string[]): void {
    if (path.includes(file)) {
      found.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' > ')}`)
      return
    }
    if (done.has(file)) return
    for (const other of imports.get(file) ?? []) walk(other, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) walk(file, [])
  return found
}
