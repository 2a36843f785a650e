/** Lives at places whose answers lag a few seconds behind what they hold: what comes just before the deadline is late, and not missing. */
import { FORGES, livesAt, releasing, type Scene } from './forges.ts'
import { row as gitRow } from './git.ts'
import { at, type Happening, kind, type LifeRow, MINUTE, NOT_BLAMED, type Place, SECOND, START } from './life-row.ts'
import {
  type CratesPlace,
  livesOf,
  type NpmPlace,
  openCrates,
  openNpm,
  openPypi,
  openSimple,
  type PackageLife,
  type PypiPlace,
  row,
} from './registries.ts'

const LAGS = [5 * SECOND, 9 * SECOND]

/** It happens at a moment, and answers show it so much later. */
const lagging = (ms: number, lagMs: number, act: (realMs: number) => unknown): Happening =>
  at(ms + lagMs, 'agent', () => act(START + ms))

/** Where nothing tells the time, it may as well have come after the deadline. */
const NOT_FAILED = ['late', 'unverifiable'] as const
const late = kind('replicas', NOT_FAILED, 'late')
const inTime = kind('replicas', NOT_BLAMED)

/** Just before the deadline, and just before the end of the tolerance. */
const rowsOf = <P extends Place>(publish: (place: P, at: number) => unknown): PackageLife<P>[] =>
  LAGS.flatMap((lagMs) => [
    row<P>(late, `three seconds before the deadline, in answers that lag ${lagMs / SECOND} s`, (place) => [
      lagging(30 * MINUTE - 3 * SECOND, lagMs, (at) => publish(place, at)),
    ]),
    row<P>(inTime, `a second before it is late, in answers that lag ${lagMs / SECOND} s`, (place) => [
      lagging(10 * MINUTE - SECOND, lagMs, (at) => publish(place, at)),
    ]),
  ])

const toNpm = ({ npm }: NpmPlace, at: number) => npm.publish('tool', '1.0.0', { at })
const toPypi = ({ pypi }: PypiPlace, at: number) => pypi.upload('tool', '1.0.0', { at })
const toCrates = ({ crates }: CratesPlace, at: number) => crates.publish('tool', '1.0.0', { at })

const AT_REGISTRIES: readonly LifeRow[] = [
  ...livesOf('npm', 'npm', () => openNpm(true), rowsOf(toNpm)),
  ...livesOf('an own npm registry', 'npm', () => openNpm(false), rowsOf(toNpm)),
  ...livesOf('pypi', 'pypi', openPypi, rowsOf(toPypi)),
  ...livesOf('devpi', 'pypi', openSimple({ path: '/+simple', form: 'html' }), rowsOf(toPypi)),
  ...livesOf('crates.io', 'cargo', openCrates, rowsOf(toCrates)),
  ...livesOf('an own cargo index', 'cargo', () => openCrates({}), rowsOf(toCrates)),
]

/** Of what no log of the host dates. */
const AT_FORGES: readonly LifeRow[] = LAGS.flatMap((lagMs) => {
  const lag = `in answers that lag ${lagMs / SECOND} s`
  const released = (ms: number) => (scene: Scene) => [scene.publish(ms + lagMs)]
  return [
    ...livesAt(FORGES, { about: 'replicas', truth: 'late' }, [
      releasing(`three seconds before the deadline, ${lag}`, NOT_FAILED, released(30 * MINUTE - 3 * SECOND)),
    ]),
    ...livesAt(FORGES, { about: 'replicas', truth: 'in_time' }, [
      releasing(`a second before it is late, ${lag}`, NOT_BLAMED, released(10 * MINUTE - SECOND)),
    ]),
  ]
})

const AT_GIT: readonly LifeRow[] = LAGS.flatMap((lagMs) =>
  (
    [
      ['three seconds before the deadline', late, 15 * MINUTE - 3 * SECOND],
      ['a second before it is late', inTime, 10 * MINUTE - SECOND],
    ] as const
  ).map(([name, about, ms]) =>
    gitRow(`${name}, in answers that lag ${lagMs / SECOND} s`, about, ({ repository, sha }) => ({
      happens: [at(ms + lagMs, 'agent', () => repository.push('main', sha))],
    })),
  ),
)

export const lagLives: readonly LifeRow[] = [...AT_REGISTRIES, ...AT_GIT]
export const forgeLagLives: readonly LifeRow[] = AT_FORGES
