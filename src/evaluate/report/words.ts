/** "gaussianBlur" as "gaussian blur". */
export const spaced = (type: string): string =>
  type.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
