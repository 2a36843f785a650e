/** The page about ASVS answers every requirement of its chapters once, and names tests that are there. */
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const PAGE = readFileSync('server/docs/asvs.md', 'utf8')
const ANSWERS = ['met', 'partly met', 'not met', 'not applicable']

/** How many requirements of levels 1 and 2 each section of ASVS 4.0.3 has, or which, where it has withdrawn one. */
const SECTIONS: Readonly<Record<string, number | readonly number[]>> = {
  '2.1': 12,
  '2.2': 3,
  '2.3': 3,
  '2.4': 5,
  '2.5': 7,
  '2.6': 3,
  '2.7': 6,
  '2.8': 7,
  '2.9': 3,
  '2.10': 4,
  '3.1': 1,
  '3.2': 4,
  '3.3': 4,
  '3.4': 5,
  '3.5': 3,
  '3.7': 1,
  '4.1': [1, 2, 3, 5],
  '4.2': 2,
  '4.3': 3,
  '5.1': 5,
  '5.2': 8,
  '5.3': 10,
  '5.4': 3,
  '5.5': 4,
  '6.1': 3,
  '6.2': 6,
  '6.3': 2,
  '6.4': 2,
  '7.1': 4,
  '7.2': 2,
  '7.3': [1, 3, 4],
  '7.4': 3,
}

/** The sections that hold the rows of an answer: each row begins with the numbers of requirements. */
const ROW = /^\| (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*) \| ([^|]+) \|(?: ([^|]*)\|)?$/gm
const rows = PAGE.split(/^## /m).flatMap((section) =>
  [...section.matchAll(ROW)].map(([, numbers, how, tests = '']) => ({
    numbers: numbers!.split(', '),
    answer: section.split('\n')[0]!.toLowerCase(),
    how: how!.trim(),
    tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
  })),
)

t.test('every requirement is answered once', async (t) => {
  const expected = Object.entries(SECTIONS).flatMap(([section, those]) => {
    const numbers = typeof those === 'number' ? Array.from({ length: those }, (_, index) => index + 1) : those
    return numbers.map((number) => `${section}.${number}`)
  })
  t.strictSame(rows.flatMap(({ numbers }) => numbers).toSorted(), expected.toSorted())
})

t.test('each answer has a reason, and names tests that are there', async (t) => {
  for (const { numbers, answer, how, tests } of rows) {
    t.ok(ANSWERS.includes(answer), `${numbers}: ${answer}`)
    t.not(how, '', `${numbers} has a reason`)
    for (const file of tests) t.ok(existsSync(file), `${numbers}: ${file}`)
  }
})

t.test('the page counts its answers as they are', async (t) => {
  for (const answer of ANSWERS) {
    const [, count] = new RegExp(`^\\| ${answer} \\| (\\d+) \\|$`, 'm').exec(PAGE) ?? []
    const counted = rows.filter((row) => row.answer === answer).flatMap(({ numbers }) => numbers)
    t.equal(Number(count), counted.length, answer)
  }
})
