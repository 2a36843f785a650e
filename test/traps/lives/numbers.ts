/** Lives with numbers that the host does not show: those of accounts that it hides blame nobody, and what was never given out is no excuse. */
import {
  BITBUCKET,
  closing,
  FORGES,
  type Forge,
  type ForgeLife,
  isGitHub,
  livesAt,
  merging,
  opening,
  type Scene,
} from './forges.ts'
import { at, BLAME, DAY, type Happening, HOUR, NOT_VERIFIED, UNVERIFIABLE } from './life-row.ts'

const FLAGGED = 'flagged[bot]'
const hide = ({ repository }: Scene) => {
  repository.answering.hiddenAccounts = new Set([FLAGGED])
}

/** Of the account that the host hides. */
const hidden = ({ repository: { pullRequests, issues } }: Scene) => ({
  pull: (ms = 0) => at(ms, 'agent', () => pullRequests.open({ head: 'topic', by: FLAGGED })),
  issue: (ms = 0) => at(ms, 'agent', () => issues.open({ by: FLAGGED })),
})
const repeated = (count: number, one: () => Happening) => Array.from({ length: count }, one)

/** A pull request that everybody sees, and what comes after it. */
const after = (scene: Scene, number: number, ...happens: readonly Happening[]) => {
  hide(scene)
  return { params: { number }, happens: [scene.openPull(-2 * DAY), ...happens] }
}

const sharesNumbers = ({ hasIssues, name }: Forge) => hasIssues && name !== 'gitlab'
/** The refs that it keeps tell what was given out. Bitbucket Cloud shows none. */
const toldByRefs = (forge: Forge) => (forge === BITBUCKET ? UNVERIFIABLE : BLAME)

const honest: readonly ForgeLife[] = [
  opening('of an account that the host hides', UNVERIFIABLE, (scene) => after(scene, 2, hidden(scene).pull())),
  opening('the first of all, of an account that the host hides', UNVERIFIABLE, (scene) => {
    hide(scene)
    return [hidden(scene).pull()]
  }),
  opening('after forty hidden ones', UNVERIFIABLE, (scene) =>
    after(scene, 42, ...repeated(40, () => hidden(scene).pull(-HOUR)), hidden(scene).pull()),
  ),
  opening(
    'hidden, after sixty issues that everybody sees',
    UNVERIFIABLE,
    (scene) => after(scene, 62, ...repeated(60, () => scene.openIssue(-HOUR)), hidden(scene).pull()),
    { where: sharesNumbers },
  ),
  merging('of an account that the host hides', UNVERIFIABLE, (scene) => {
    const merge = at(0, 'agent', () => scene.repository.pullRequests.merge(2))
    return after(scene, 2, hidden(scene).pull(-HOUR), merge)
  }),
  opening(
    'hidden, and the token may not read what is kept in refs',
    UNVERIFIABLE,
    (scene) => after(scene, 2, hidden(scene).pull()),
    { where: isGitHub, visit: { token: ['pull_requests', 'issues'] } },
  ),
  closing('an issue of an account that the host hides', UNVERIFIABLE, (scene) => {
    hide(scene)
    const close = at(0, 'agent', () => scene.repository.issues.close(2))
    return { params: { number: 2 }, happens: [scene.openIssue(), hidden(scene).issue(-HOUR), close] }
  }),
  closing(
    'a hidden issue, after sixty pull requests that everybody sees',
    UNVERIFIABLE,
    (scene) => {
      hide(scene)
      const close = at(0, 'agent', () => scene.repository.issues.close(62))
      const pulls = repeated(60, () => scene.openPull(-DAY))
      return { params: { number: 62 }, happens: [scene.openIssue(), ...pulls, hidden(scene).issue(-HOUR), close] }
    },
    { where: sharesNumbers },
  ),
]

const lies: readonly ForgeLife[] = [
  ...[2, 4, 40].map((number) =>
    opening(
      `${number - 1} above the highest`,
      // It may have been the highest, and deleted, which a late answer would not tell.
      (forge) => (forge.name === 'gitlab' && number === 2 ? UNVERIFIABLE : toldByRefs(forge)),
      (scene) => after(scene, number),
    ),
  ),
  opening('far above the highest', BLAME, (scene) => after(scene, 200)),
  opening('the number of an issue', BLAME, (scene) => after(scene, 2, scene.openIssue(-HOUR)), {
    where: sharesNumbers,
  }),
  opening(
    'the number of a hidden issue',
    (forge) => (isGitHub(forge) ? BLAME : NOT_VERIFIED),
    (scene) => after(scene, 2, hidden(scene).issue(-HOUR), scene.openIssue(-HOUR)),
    { where: sharesNumbers },
  ),
  merging('three above the highest', toldByRefs, (scene) => after(scene, 4)),
  opening('above the highest, and the token may not read refs', NOT_VERIFIED, (scene) => after(scene, 4), {
    where: isGitHub,
    visit: { token: ['pull_requests', 'issues'] },
  }),
  closing('an issue just above the highest', UNVERIFIABLE, ({ openIssue }) => ({
    ...{ params: { number: 3 }, happens: [openIssue()] },
  })),
  closing('an issue far above the highest', BLAME, ({ openIssue }) => ({
    ...{ params: { number: 200 }, happens: [openIssue()] },
  })),
]

const about = 'numbers that hide'

export const numberLives = [
  ...livesAt(FORGES, { about, truth: 'in_time' }, honest),
  ...livesAt(FORGES, { about, truth: 'never' }, lies),
]
