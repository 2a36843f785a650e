import { mayTake } from '@claimcheck/core/hosting'
import t from 'tap'

/** How many places each user has when all take what they may. */
function taken(places: number, users: number, weight: number): number[] {
  const used = Array.from({ length: users }, () => 0)
  for (let free = places, isFull = false; !isFull; ) {
    isFull = true
    for (let user = 0; user < users; user++) {
      if (!mayTake(used[user]!, free, weight)) continue
      used[user]!++
      free--
      isFull = false
    }
  }
  return used
}

t.test('alone a user takes most places and leaves some; together all have the same, and leave some', async (t) => {
  for (const [places, users, expected] of [
    [8, 1, [6]],
    [8, 2, [4, 3]],
    [100, 1, [75]],
    [100, 3, [30, 30, 30]],
    [1, 1, [1]],
    [0, 1, [0]],
  ] as const) {
    t.same(taken(places, users, 3), expected, `${users} of ${places}`)
  }
})
