// Flags that both Java engines are started with.

/**
 * A small collector: pauses stay short in heaps of this size, and the threads of a larger one are
 * saved.
 */
export const javaFlags = (heapMax: string): string[] => [
  `-Xmx${heapMax}`,
  '-XX:+UseSerialGC',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
  '-Dorg.slf4j.simpleLogger.showThreadName=false',
];
