import { clsx } from 'clsx';
import { Monitor, Moon, Sun } from 'lucide-react';
import { RadioGroup } from 'radix-ui';
import { SectionCard } from '../../ui/page.tsx';
import { usePreference } from '../../ui/state.ts';
import { themePreference, THEMES } from './theme.ts';

const LOOKS = {
  light: { label: 'Light', Icon: Sun },
  dark: { label: 'Dark', Icon: Moon },
  system: { label: 'System', Icon: Monitor },
} as const;

/** Light, dark or system theme; stored in this browser. */
export function ThemeCard() {
  const [theme, setTheme] = usePreference(themePreference);
  return (
    <SectionCard title="Appearance" description="Stored in this browser.">
      <RadioGroup.Root
        aria-label="Theme"
        value={theme}
        onValueChange={(value) => setTheme(THEMES.find((known) => known === value) ?? 'system')}
        className="grid max-w-md grid-cols-3 gap-2"
      >
        {THEMES.map((value) => {
          const { label, Icon } = LOOKS[value];
          return (
            <RadioGroup.Item
              key={value}
              value={value}
              className={clsx(
                'flex h-9 items-center justify-center gap-2 rounded-md border font-medium transition-colors duration-100',
                'data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft data-[state=checked]:text-accent',
                'border-line-strong hover:bg-sunk',
              )}
            >
              <Icon aria-hidden className="size-4" />
              {label}
            </RadioGroup.Item>
          );
        })}
      </RadioGroup.Root>
    </SectionCard>
  );
}
