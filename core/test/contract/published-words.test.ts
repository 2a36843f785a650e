/** Sentences for people from the templates of a service, which may say anything. */

import { publishedWords } from '@claimcheck/core/hosting'
import { claimSentence, factSentences, type Named, outcomeSentence, type Words } from '@claimcheck/core/receipts'
import { VERDICTS } from '@claimcheck/core/rules'
import fc from 'fast-check'
import t from 'tap'
import { commitSeed } from '../../../scripts/commit-seed.ts'

const WORDS: Words = {
  title: 'Push of a commit',
  target: 'Repository',
  claim: 'Commit {sha:short} was pushed to {branch} of {target}.',
  outcomes: {
    verified: 'It was on {branch}.',
    late: 'It came late.',
    mismatch: ['Found on {found_on}, not on {branch}.', 'Not found on {branch}.'],
    failed: ['Nothing on {none}.'],
  },
  facts: {
    count: 'There were {count}.',
    found_on: 'It is on {found_on}.',
    repository: 'It is called {repository}.',
    kind: { new: 'It is new.', old: ['It is from {since}.', 'It is old.'] },
    is_tip: { true: 'It is the tip.', false: 'It is not the tip.' },
  },
}

t.test('a name that is shortened keeps its characters whole', async (t) => {
  const named = { target: 'acme/app', params: { sha: '😀'.repeat(20), branch: 'main' } }
  t.match(claimSentence({ words: WORDS }, named), `Commit ${'😀'.repeat(12)} was`)
})

const PUBLISHED = {
  action: 'a.b.c',
  version: '1',
  words: WORDS,
  titles: { params: { sha: 'Commit' }, facts: {} },
}
const answer = (...profiles: unknown[]) => JSON.stringify({ profiles })

t.test('the words that a service publishes are found by action and version', async (t) => {
  const wordsOf = publishedWords(answer({ ...PUBLISHED, version: '2', words: { ...WORDS, title: 'Newer' } }, PUBLISHED))
  t.equal(wordsOf('a.b.c', '1')?.words.title, 'Push of a commit')
  t.equal(wordsOf('a.b.c', '2')?.words.title, 'Newer')
  t.equal(wordsOf('a.b.c', '3'), undefined)
  t.equal(wordsOf('constructor', '1'), undefined)
})

const { titles: _, ...untitled } = PUBLISHED
const wrong: [what: string, text: string][] = [
  ['no JSON', '<html>'],
  ['another answer', '{"profiles":{}}'],
  ['null', 'null'],
  ['no profile', answer(null, 1, 'a')],
  ['no words, as services of before answer', answer({ action: 'a.b.c', version: '1' })],
  ['no titles', answer(untitled)],
  ['a title that is no text', answer({ ...PUBLISHED, titles: { params: { sha: {} }, facts: {} } })],
  ['a title as long as a page', answer({ ...PUBLISHED, words: { ...WORDS, title: 'x'.repeat(200) } })],
  ['a sentence that is a number', answer({ ...PUBLISHED, words: { ...WORDS, claim: 7 } })],
  ['a sentence of numbers', answer({ ...PUBLISHED, words: { ...WORDS, claim: [7] } })],
  ['a missing outcome', answer({ ...PUBLISHED, words: { ...WORDS, outcomes: { verified: 'Yes.' } } })],
  ['found facts that are no names', answer({ ...PUBLISHED, words: { ...WORDS, found: { branch: 1 } } })],
  ['words of a fact that are no sentences', answer({ ...PUBLISHED, words: { ...WORDS, facts: { a: { b: 1 } } } })],
]
for (const [what, text] of wrong) {
  t.test(`nothing is told in the words of a service whose answer has ${what}`, async (t) => {
    t.equal(publishedWords(text)('a.b.c', '1'), undefined)
  })
}

t.test('no answer of a service, and no facts, make a sentence throw', async (t) => {
  const text = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('{a}', '{a:short}', '{target}', '{constructor}', '{', '}{'),
  )
  const sentence = fc.oneof(
    { weight: 20, arbitrary: text },
    { weight: 20, arbitrary: fc.array(text, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
  const name = fc.oneof(fc.string(), fc.constantFrom('a', '__proto__', 'constructor', 'true'))
  const facts = fc.dictionary(name, fc.jsonValue())
  const words = fc.record({
    title: text,
    target: text,
    claim: sentence,
    outcomes: fc.record({ verified: sentence, late: sentence, mismatch: sentence, failed: sentence }),
    facts: fc.dictionary(name, fc.oneof(sentence, fc.dictionary(name, sentence)), { maxKeys: 3 }),
  })
  let used = 0
  fc.assert(
    fc.property(words, facts, facts, (words, params, facts) => {
      const titles = { params: {}, facts: {} }
      const worded = publishedWords(answer({ ...PUBLISHED, words, titles }))('a.b.c', '1')
      if (!worded) return
      used++
      const named = { target: 't', params, facts } as Named
      const sentences = [
        claimSentence(worded, named),
        ...factSentences(worded, named),
        ...VERDICTS.map((verdict) => outcomeSentence(worded, verdict, named)),
      ]
      for (const one of sentences) if (one !== undefined && typeof one !== 'string') throw new Error('it is no text')
    }),
    { numRuns: 2000, seed: commitSeed() },
  )
  t.ok(used > 20, `${used} answers had words`)
})
