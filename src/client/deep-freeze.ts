/** Freezes plain data all the way down. What is worked out when it is read stays unread. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const { value: member } of Object.values(Object.getOwnPropertyDescriptors(value))) deepFreeze(member);
  return value;
}
