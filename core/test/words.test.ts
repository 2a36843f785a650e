/** Sentences for people, from the templates of a profile or of a service that may say anything. */
import {
  claimSentence,
  factSentences,
  type Named,
  outcomeSentence,
  publishedWords,
  VERDICTS,
  type Words,
} from '@claimcheck/core'
import fc from 'fast-check'
import t from 'tap'

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
const CLAIM = { target: 'acme/app', params: { sha: 'abcdef0123456789', branch: 'main' } }
const told = (facts: Named['facts'] = {}) => ({ ...CLAIM, facts })

t.test('a claim is told with its params, shortened where the template says so', async (t) => {
  t.equal(claimSentence({ words: WORDS }, CLAIM), 'Commit abcdef012345 was pushed to main of acme/app.')
  const short = { ...CLAIM, params: { ...CLAIM.params, sha: '😀'.repeat(20) } }
  t.match(claimSentence({ words: WORDS }, short), `Commit ${'😀'.repeat(12)} was`, 'characters are not cut in half')
})

t.test('a claim whose params leave the template open has its title', async (t) => {
  t.equal(claimSentence({ words: WORDS }, { target: 'a', params: {} }), 'Push of a commit')
})

t.test('the first template counts whose names all have a value', async (t) => {
  t.equal(outcomeSentence({ words: WORDS }, 'mismatch', told({ found_on: 'dev' })), 'Found on dev, not on main.')
  for (const found_on of [null, {}, ['dev'], undefined])
    t.equal(outcomeSentence({ words: WORDS }, 'mismatch', told({ found_on } as never)), 'Not found on main.')
  t.equal(outcomeSentence({ words: WORDS }, 'failed', told()), undefined)
  t.equal(outcomeSentence({ words: WORDS }, 'unverifiable', told()), undefined)
})

t.test('a value is text: what looks like a name in it is not replaced', async (t) => {
  const facts = { found_on: '{branch} $& $1' }
  t.equal(outcomeSentence({ words: WORDS }, 'mismatch', told(facts)), 'Found on {branch} $& $1, not on main.')
})

const rows: [facts: NonNullable<Named['facts']>, sentences: string[]][] = [
  [{}, []],
  [{ count: 0 }, ['There were 0.']],
  [{ kind: 'new', count: 2 }, ['There were 2.', 'It is new.']],
  [{ kind: 'old' }, ['It is old.']],
  [{ kind: 'old', since: 2020 }, ['It is from 2020.']],
  [{ kind: 'other' }, []],
  [{ is_tip: false }, ['It is not the tip.']],
  [{ repository: 'acme/app' }, []],
  [{ repository: 'acme/new' }, ['It is called acme/new.']],
  [{ unknown: 1, status: 200 }, []],
  [{ found_on: ['a'] }, []],
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty'].map((kind): [{ kind: string }, string[]] => [
    { kind },
    [],
  ]),
]
for (const [facts, sentences] of rows) {
  t.test(`facts in sentences: ${JSON.stringify(facts)}`, async (t) => {
    t.strictSame(factSentences({ words: WORDS }, told(facts)), sentences)
  })
}

t.test('names that objects inherit have no value', async (t) => {
  const words = { ...WORDS, claim: ['{constructor}.', '{__proto__}.', 'Plain.'] }
  t.equal(claimSentence({ words }, CLAIM), 'Plain.')
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
    { numRuns: 2000 },
  )
  t.ok(used > 20, `${used} answers had words`)
})
