package com.acme.shop.lab;

/** The lab.* system properties, with their defaults. */
public final class Settings {
    private Settings() {
    }

    /** Text of lab.name, or the default when it is absent or empty. */
    public static String text(String name, String otherwise) {
        String value = System.getProperty("lab." + name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    public static int number(String name, int otherwise) {
        String value = text(name, null);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    public static boolean flag(String name, boolean otherwise) {
        String value = text(name, null);
        return value == null ? otherwise : Boolean.parseBoolean(value);
    }

    /** Whether the property is set to something. */
    public static boolean has(String name) {
        return text(name, null) != null;
    }
}
