/** The page about ASVS answers every requirement once, and names tests that are there. */
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const PAGE = readFileSync('server/docs/asvs.md', 'utf8')
const ANSWERS = ['Yes', 'Partly', 'No', 'Not applicable']

/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has, or which, where some are of level 3. */
const SECTIONS: Readonly<Record<string, number | readonly number[]>> = {
  '1.1': 2,
  '1.2': 9,
  '1.3': 11,
  '1.4': 3,
  '1.5': 2,
  '2.1': 3,
  '2.2': 3,
  '2.3': 4,
  '2.4': 1,
  '3.2': 2,
  '3.3': 4,
  '3.4': 6,
  '3.5': 5,
  '3.7': 2,
  '4.1': 3,
  '4.2': 1,
  '4.3': 2,
  '4.4': 4,
  '5.1': 1,
  '5.2': 3,
  '5.3': 2,
  '5.4': 3,
  '6.1': 3,
  '6.2': 12,
  '6.3': 4,
  '6.4': 4,
  '6.5': 5,
  '6.6': 3,
  '6.8': 4,
  '7.1': 3,
  '7.2': 4,
  '7.3': 2,
  '7.4': 5,
  '7.5': 2,
  '7.6': 2,
  '8.1': 2,
  '8.2': 3,
  '8.3': 1,
  '8.4': 1,
  '9.1': 3,
  '9.2': 4,
  '10.1': 2,
  '10.2': 2,
  '10.3': 4,
  '10.4': 11,
  '10.5': 5,
  '10.6': 2,
  '10.7': 3,
  '11.1': 2,
  '11.2': 3,
  '11.3': 3,
  '11.4': 4,
  '11.5': 1,
  '11.6': 1,
  '12.1': 3,
  '12.2': 2,
  '12.3': 4,
  '13.1': 1,
  '13.2': 5,
  '13.3': 2,
  '13.4': 5,
  '14.1': 2,
  '14.2': 4,
  '14.3': 3,
  '15.1': 3,
  '15.2': 3,
  '15.3': 7,
  '16.1': 1,
  '16.2': 5,
  '16.3': 4,
  '16.4': 3,
  '16.5': 3,
  '17.1': 1,
  '17.2': 4,
  '17.3': 2,
}

/** A section for each answer; each row of it begins with the numbers of requirements. */
const ROW = /^\| (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*) \| ([^|]+) \|(.*)$/gm
const [, ...sections] = PAGE.split(/^## /m)
const rows = sections.flatMap((section) =>
  [...section.matchAll(ROW)].map(([, numbers, how, tests]) => ({
    numbers: numbers!.split(', '),
    answer: section.split('\n')[0]!,
    how: how!.trim(),
    tests: [...tests!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
  })),
)

t.test('every requirement is answered once', async (t) => {
  const expected = Object.entries(SECTIONS).flatMap(([section, those]) => {
    const numbers = typeof those === 'number' ? Array.from({ length: those }, (_, index) => index + 1) : those
    return numbers.map((number) => `${section}.${number}`)
  })
  t.equal(expected.length, 253, 'as the standard counts them')
  t.strictSame(rows.flatMap(({ numbers }) => numbers).toSorted(), expected.toSorted())
})

t.test('each answer has a reason, and what holds has tests that are there', async (t) => {
  for (const { numbers, answer, how, tests } of rows) {
    t.ok(ANSWERS.includes(answer), `${numbers}: ${answer}`)
    t.not(how, '', `${numbers} has a reason`)
    const holds = answer === 'Yes' || answer === 'Partly'
    t.equal(tests.length > 0, holds, `${numbers}: tests of ${answer}`)
    for (const file of tests) t.ok(/\.test\.ts$/.test(file) && existsSync(file), `${numbers}: ${file}`)
  }
})

t.test('the page counts its answers as they are', async (t) => {
  const counts = ANSWERS.map((answer) =>
    rows.filter((row) => row.answer === answer).reduce((sum, { numbers }) => sum + numbers.length, 0),
  )
  t.match(PAGE, `\n| ${counts.join(' | ')} |\n`)
})
