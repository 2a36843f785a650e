/** The published descriptions of Google's answers: names and types of fields, `!` after those that are always there. */

/** By Google's discovery document of the Calendar API, version 3. Cancelled events are only certain to have their id. */
const PUBLISHED = {
  'google event': `anyoneCanAddSelf:boolean attachments:array attendees:array attendeesOmitted:boolean colorId:string conferenceData:object
    created:string creator:object description:string end:object endTimeUnspecified:boolean etag:string eventType:string
    extendedProperties:object focusTimeProperties:object gadget:object guestsCanInviteOthers:boolean guestsCanModify:boolean
    guestsCanSeeOtherGuests:boolean hangoutLink:string htmlLink:string iCalUID:string id:string! kind:string location:string
    locked:boolean organizer:object originalStartTime:object outOfOfficeProperties:object privateCopy:boolean recurrence:array
    recurringEventId:string reminders:object sequence:integer source:object start:object status:string summary:string
    transparency:string updated:string visibility:string workingLocationProperties:object`,
  'google events': `accessRole:string! defaultReminders:array! description:string etag:string items:array! kind:string!
    nextPageToken:string nextSyncToken:string summary:string timeZone:string! updated:string`,
  'google calendar': `conferenceProperties:object description:string etag:string id:string! kind:string! location:string summary:string
    timeZone:string`,
  'google calendar list entry': `accessRole:string! backgroundColor:string colorId:string conferenceProperties:object
    defaultReminders:array deleted:boolean description:string etag:string foregroundColor:string hidden:boolean id:string! kind:string!
    location:string notificationSettings:object primary:boolean selected:boolean summary:string summaryOverride:string timeZone:string`,
} as const

export type Described = keyof typeof PUBLISHED

/** Lists where an object is not as published. */
export function faultsOf(name: Described, object: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = new Map(
    PUBLISHED[name].split(/\s+/).map((field) => {
      const [, word = '', type = '', mark] = /^(\w+):(\w+)(!?)$/.exec(field) ?? []
      return [word, { type, isRequired: mark === '!' }] as const
    }),
  )
  const missing = [...fields].filter(([field, { isRequired }]) => isRequired && object[field] === undefined)
  const wrong = Object.entries(object).flatMap(([field, value]) => {
    const type = fields.get(field)?.type
    if (type === undefined) return [`${name}: ${field} is not published`]
    return type === typeOf(value) ? [] : [`${name}: ${field} is ${JSON.stringify(value)}`]
  })
  return [...missing.map(([field]) => `${name}: ${field} is missing`), ...wrong]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
