/** Traps of `codehost.release.publish`, at any host that has releases. */
import type { CommonTrap } from './common-trap.ts'
import { DAY, MINUTE, TOO_LATE } from './times.ts'

const ACTION = 'release.publish'
const TAG = 'v1.0.0'

export const releaseTraps: readonly CommonTrap[] = [
  {
    name: 'published, with its commit',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.releases.create({ tag: TAG })
      return { ...world.claim(ACTION, slug, { tag: TAG, commit: base }), facts: { commit: base, prerelease: false } }
    },
  },
  {
    name: 'of an annotated tag',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.tag(TAG, base, { annotated: true })
      await repository.releases.create({ tag: TAG })
      return { ...world.claim(ACTION, slug, { tag: TAG, commit: base }), facts: { commit: base } }
    },
  },
  {
    name: 'a tag with a slash, of a tag that was pushed long before',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.tag('app/v1', base, { annotated: true, at: world.clock.now() - DAY })
      await repository.releases.create({ tag: 'app/v1' })
      return { ...world.claim(ACTION, slug, { tag: 'app/v1' }), facts: { preexisting: undefined } }
    },
  },
  {
    name: 'a branch has the name of the tag',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const other = await repository.commit({ parents: [base] })
      await repository.tag(TAG, base)
      await repository.push(TAG, other)
      await repository.releases.create({ tag: TAG })
      return { ...world.claim(ACTION, slug, { tag: TAG, commit: base }), facts: { commit: base } }
    },
  },
  {
    name: 'a tag without a release',
    truth: 'never',
    verdict: ({ isPrompt }) => (isPrompt ? 'failed/not_found' : 'unverifiable/claim_ambiguous'),
    forgets: ({ isPrompt }) => !isPrompt,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.tag(TAG, base)
      return world.claim(ACTION, slug, { tag: TAG })
    },
  },
  {
    name: 'a draft',
    truth: 'never',
    verdict: ({ isPrompt }) => (isPrompt ? 'failed/not_found' : 'unverifiable/claim_ambiguous'),
    at: ({ name }) => name !== 'gitlab',
    forgets: ({ isPrompt }) => !isPrompt,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.tag(TAG, base)
      await repository.releases.create({ tag: TAG, draft: true })
      return world.claim(ACTION, slug, { tag: TAG })
    },
  },
  {
    name: 'neither tag nor release',
    truth: 'never',
    verdict: ({ isPrompt }) => (isPrompt ? 'failed/not_found' : 'unverifiable/claim_ambiguous'),
    forgets: ({ isPrompt }) => !isPrompt,
    async play(world) {
      const { slug } = await world.repository()
      return world.claim(ACTION, slug, { tag: TAG })
    },
  },
  {
    name: 'published while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      return {
        ...world.claim(ACTION, slug, { tag: TAG }),
        afterMs: 4 * MINUTE,
        meanwhile: async () => void (await repository.releases.create({ tag: TAG })),
      }
    },
  },
  {
    name: 'published too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.repository()
      return {
        ...world.claim(ACTION, slug, { tag: TAG }),
        afterMs: TOO_LATE,
        meanwhile: async () => void (await repository.releases.create({ tag: TAG })),
      }
    },
  },
  {
    name: 'published days ago, and claimed now',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      await repository.releases.create({ tag: TAG, at: world.clock.now() - 3 * DAY })
      const facts = world.kind.dates.has('release') ? { preexisting: true } : {}
      return { ...world.claim(ACTION, slug, { tag: TAG }), facts }
    },
  },
  {
    name: 'another commit',
    truth: 'elsewhere',
    verdict: ({ isPrompt }) => (isPrompt ? 'mismatch/content_mismatch' : 'unverifiable/claim_ambiguous'),
    forgets: ({ isPrompt }) => !isPrompt,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const other = await repository.commit({ parents: [base] })
      await repository.push('main', other)
      await repository.releases.create({ tag: TAG })
      return { ...world.claim(ACTION, slug, { tag: TAG, commit: base }), facts: { commit: other } }
    },
  },
  {
    name: 'the tag was moved before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.releases.create({ tag: TAG, at: world.clock.now() - 6 * MINUTE })
      await repository.tag(TAG, await repository.commit({ parents: [base] }))
      return world.claim(ACTION, slug, { tag: TAG, commit: base }, 5 * MINUTE)
    },
  },
  {
    name: 'the tag is moved after we looked',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      await repository.releases.create({ tag: TAG })
      const other = await repository.commit({ parents: [base] })
      return {
        ...world.claim(ACTION, slug, { tag: TAG, commit: base }),
        afterMs: MINUTE,
        meanwhile: async () => void (await repository.tag(TAG, other)),
      }
    },
  },
  {
    name: 'deleted before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      const id = await repository.releases.create({ tag: TAG, at: world.clock.now() - 6 * MINUTE })
      repository.releases.delete(id)
      return world.claim(ACTION, slug, { tag: TAG }, 5 * MINUTE)
    },
  },
  {
    name: 'a file that is added later',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository } = await world.repository()
      const id = await repository.releases.create({ tag: TAG })
      return {
        ...world.claim(ACTION, slug, { tag: TAG, assets: ['app.tar.gz'] }),
        afterMs: 2 * MINUTE,
        meanwhile: async () => repository.releases.addAsset(id, 'app.tar.gz'),
      }
    },
  },
  {
    name: 'a file that is missing',
    truth: 'elsewhere',
    verdict: ({ isPrompt }) => (isPrompt ? 'mismatch/content_mismatch' : 'unverifiable/claim_ambiguous'),
    forgets: ({ isPrompt }) => !isPrompt,
    async play(world) {
      const { slug, repository } = await world.repository()
      const id = await repository.releases.create({ tag: TAG })
      repository.releases.addAsset(id, 'app.zip')
      const params = { tag: TAG, assets: ['app.zip', 'app.tar.gz'] }
      return { ...world.claim(ACTION, slug, params), facts: { assets_missing: 1 } }
    },
  },
  {
    name: 'a prerelease',
    truth: 'in_time',
    verdict: 'verified',
    at: ({ name }) => name !== 'gitlab',
    async play(world) {
      const { slug, repository } = await world.repository()
      await repository.releases.create({ tag: TAG, prerelease: true })
      return { ...world.claim(ACTION, slug, { tag: TAG }), facts: { prerelease: true } }
    },
  },
  {
    name: 'a private repository that the token does not show',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository({ isPrivate: true })
      await repository.releases.create({ tag: TAG })
      return world.claim(ACTION, slug, { tag: TAG })
    },
  },
]
