/** Measures this version and an earlier commit in turns, in one run: figures of two runs on one machine differ by more than the versions do. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify, styleText } from 'node:util'
import { columns, type Result, shown } from './figure.ts'
import { median } from './statistics.ts'

export interface Compared {
  readonly name: string
  readonly unit: string
  readonly earlier: number
  readonly now: number
  /** The ratio of now to earlier. */
  readonly ratio: number
  readonly hasFallen: boolean
}

const ROUNDS = 4
/** A figure that is worse by more than a tenth. */
const FALLEN = 0.9
const MORE_IS_BETTER: ReadonlySet<string> = new Set(['1/s'])
const LESS_IS_BETTER: ReadonlySet<string> = new Set(['µs', 'ms', 's', 'MiB'])
const MOST_OUTPUT = 16 * 1024 * 1024

const run = promisify(execFile)

/** @param names of the parts that are measured @throws Error when the commit cannot be made ready or measured */
export async function measureAgainst(commit: string, names: readonly string[]): Promise<readonly Compared[]> {
  const folder = await prepareCommit(commit)
  const args = ['run', '--silent', 'bench', '--', '--json', '--only', names.join(',')]
  const sides = { earlier: folder, now: process.cwd() }
  const rounds = { earlier: [] as Result[][], now: [] as Result[][] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['earlier', 'now'] as const) {
      process.stderr.write(`round ${round + 1} of ${ROUNDS}, ${side} ...\n`)
      // A run that misses its bars has figures all the same.
      const { stdout } = await run('npm', args, { cwd: sides[side], maxBuffer: MOST_OUTPUT }).catch((error) => error)
      rounds[side].push(JSON.parse(stdout))
    }
    // A run takes most of an hour: one that is ended early has told what it measured.
    process.stderr.write(`${comparisonTable(commit, compareRounds(rounds.earlier, rounds.now))}\n`)
  }
  return compareRounds(rounds.earlier, rounds.now)
}

/** The medians of each figure that both have, in the order of now. */
export function compareRounds(earlier: readonly Result[][], now: readonly Result[][]): readonly Compared[] {
  const medianOf = (rounds: readonly Result[][], name: string) => {
    const values = rounds.flatMap((results) => results.filter((result) => result.name === name))
    return values.length === 0 ? undefined : median(values.map(({ value }) => value))
  }
  return now[0]!.flatMap((result) => {
    const { name, unit } = result
    const before = medianOf(earlier, name)
    if (before === undefined) return []
    const after = medianOf(now, name)!
    const ratio = after / before
    return [{ name, unit, earlier: before, now: after, ratio, hasFallen: gain(result, ratio) < FALLEN }]
  })
}

/** More than 1 is better; 1 where nothing says which is. */
function gain({ bar, unit }: Result, ratio: number): number {
  if (bar?.startsWith('>=') || MORE_IS_BETTER.has(unit)) return ratio
  return bar?.startsWith('<=') || LESS_IS_BETTER.has(unit) ? 1 / ratio : 1
}

/** Ends with what fell, so that nobody overlooks it. */
export function comparisonTable(commit: string, compared: readonly Compared[]): string {
  const head = ['figure', 'unit', commit, 'now', 'ratio', '']
  const rows = compared.map(({ name, unit, earlier, now, ratio, hasFallen }) => [
    name,
    unit,
    shown(earlier),
    shown(now),
    shown(ratio),
    hasFallen ? 'FELL' : '',
  ])
  const fallen = compared.filter(({ hasFallen }) => hasFallen).length
  const end =
    fallen === 0
      ? styleText('green', `Nothing fell by more than a tenth since ${commit}.`)
      : styleText('red', `${fallen} of ${compared.length} figures fell by more than a tenth since ${commit}.`)
  return [...columns([head, ...rows], new Set([2, 3, 4])), '', end].join('\n')
}

/** A folder of its own, which is kept for the next comparison. */
async function prepareCommit(commit: string): Promise<string> {
  const { stdout } = await run('git', ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`])
  const hash = stdout.trim()
  const folder = join(tmpdir(), `claimcheck-bench-${hash}`)
  if (existsSync(folder)) return folder
  process.stderr.write(`making ${commit} ready in ${folder} ...\n`)
  mkdirSync(folder)
  try {
    await unpack(hash, folder)
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: MOST_OUTPUT })
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}

async function unpack(hash: string, folder: string): Promise<void> {
  const archive = spawn('git', ['archive', hash], { stdio: ['ignore', 'pipe', 'inherit'] })
  const tar = spawn('tar', ['-x', '-C', folder], { stdio: [archive.stdout, 'inherit', 'inherit'] })
  const ends = await Promise.all([once(archive, 'exit'), once(tar, 'exit')])
  if (ends.some(([code]) => code !== 0)) throw new Error(`${hash} cannot be unpacked`)
}
