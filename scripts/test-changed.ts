/** Finds the test files that a change concerns: those that changed, and those that import what changed, directly or not. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The branch that a change is compared with. Without one, the last commit. */
const MAIN = 'main'
const PACKAGE = '(?:core(?:/(?:cli|client|command-line|plugin-tools))?|server|plugins/[^/]+)'
const SOURCE = new RegExp(`^(${PACKAGE})/src/(.*)\\.tsx?$`)
const TEST = new RegExp(`^(${PACKAGE}/test|test|scripts)/(.*)\\.tsx?$`)
/** Imports, and also the modules that tests and threads name by a path. */
const NAMED = /['"`]((?:\.{1,2}|@claimcheck|build|core|plugins|server)\/[^'"`\s]*|@claimcheck\/core)['"`]/g

/** Sources, as git names them. */
export function changedFiles(): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const base = hasMain() ? git('merge-base', MAIN, 'HEAD')[0]! : 'HEAD'
  return [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
}

function hasMain(): boolean {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', MAIN], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Chooses the test files that the changed files concern: all of them when a file changed that is no module and no text. */
export function changedTests(tests: readonly string[], changed: readonly string[]): string[] {
  const files = changed.filter((file) => !file.endsWith('.md'))
  const built = new Set(files.map((file) => builtFile(file) ?? file))
  if (files.some((file) => builtFile(file) === undefined && !isModule(file))) return [...tests]
  return tests.filter((test) => reaches(test, built))
}

/** The file that TypeScript makes of a source file. Undefined if it does not compile it. */
export function builtFile(file: string): string | undefined {
  const source = SOURCE.exec(file)
  if (source) return `${source[1]}/dist/${source[2]}.js`
  const test = TEST.exec(file)
  return test ? `build/${test[1]}/${test[2]}.js` : undefined
}

function isModule(file: string): boolean {
  return /\.[cm]?js$/.test(file)
}

/** Tells whether a test file is one of these built files, or imports one of them, directly or not. */
export function reaches(test: string, files: ReadonlySet<string>): boolean {
  const seen = new Set([test])
  for (const file of seen) {
    if (files.has(file)) return true
    for (const imported of importsOf(file)) seen.add(imported)
  }
  return false
}

const known = new Map<string, readonly string[]>()

function importsOf(file: string): readonly string[] {
  let imports = known.get(file)
  if (!imports) {
    const names = [...readFileSync(file, 'utf8').matchAll(NAMED)].map(([, name]) => name!)
    imports = names.map((name) => locate(file, name)).filter((path) => path !== undefined)
    known.set(file, imports)
  }
  return imports
}

/** The file of an imported module; undefined if it is none of this project. */
function locate(from: string, name: string): string | undefined {
  const path = pathOf(from, name)
  return path && isModule(path) && existsSync(path) && statSync(path).isFile() ? path : undefined
}

function pathOf(from: string, name: string): string | undefined {
  if (name.startsWith('.')) return posix.join(posix.dirname(from), name)
  if (!name.startsWith('@')) return name
  try {
    return relative(process.cwd(), fileURLToPath(import.meta.resolve(name)))
  } catch {
    return undefined
  }
}
